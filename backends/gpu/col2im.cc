// Col2Im: blocks that are added where they lie in a picture, as a transposed convolution adds its windows.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/windows.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const auto picture = site.view.ints("", 1), block = site.view.ints("", 2);
  if (!picture || !block || picture->empty() || picture->size() > 3 || block->size() != picture->size())
    return Decline{"the shapes of the picture and of blocks are not constant, or have more than 3 axes"};
  const auto window = window_over(site.view, *picture, *block);
  if (!window) return window.error();
  const auto places = positions(*window, *picture);
  if (!places) return places.error();
  const int64_t taps = element_count(*block);
  if (x.dims.size() != 3 || x.dims[1] % taps != 0 || x.dims[2] != element_count(*places))
    return Decline{"the input does not fit the blocks"};
  TensorDesc out{x.dtype, {x.dims[0], x.dims[1] / taps}}, blocks = out;
  out.dims.insert(out.dims.end(), picture->begin(), picture->end());
  blocks.dims.insert(blocks.dims.end(), places->begin(), places->end());
  if (!is_countable(x) || !is_countable(out)) return Decline{"more elements than kernels count"};
  FoldArgs args{};
  args.conv.type = *type;
  args.conv.groups = 1;
  args.conv.batch = args.images = static_cast<int>(x.dims[0]);
  args.conv.channels_out = static_cast<int>(out.dims[1]);
  args.conv.channels_in = static_cast<int>(x.dims[1]);
  args.conv.windows = windows_of(*window, out.dims, blocks.dims);
  PlannedStep step{.out = {out}};
  step.packed = {1, 2};
  step.run = [args](const Buffers& b) {
    FoldArgs now = args;
    now.columns = b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::fold, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Col2Im", .plan = plan}};

}  // namespace

std::span<const Kernel> col2im_kernels() { return kKernels; }

}  // namespace mlopt::gpu
