// Resize and Upsample with constant sizes, one axis after the other.
#include <cstring>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/resize_plan.h"

namespace mlopt::gpu {
namespace {

std::vector<std::byte> bytes_of(const std::vector<ResizeTap>& taps) {
  std::vector<std::byte> bytes(taps.size() * sizeof(Tap));
  for (size_t i = 0; i < taps.size(); ++i) {
    const Tap tap{static_cast<int32_t>(taps[i].place), taps[i].weight};
    std::memcpy(bytes.data() + i * sizeof tap, &tap, sizeof tap);
  }
  return bytes;
}

struct Filter {
  ResizeArgs args;
  std::shared_ptr<Brought> table;
  size_t bytes;  ///< of what it makes
};

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  auto resized = resize_plan(site.view, x.dims);
  if (!resized) return resized.error();
  const auto width = width_of(x.dtype);
  const auto type = resized->moves ? Expected<Elem>(Elem::kF32) : float_of(x.dtype);
  if (!width || !type) return width ? type.error() : width.error();
  PlannedStep step{.out = {{x.dtype, resized->out}}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  if (resized->filters.empty()) {
    step.view_of = 0;
    return step;
  }
  TensorDesc made = x;
  std::vector<Filter> filters;
  for (const ResizeFilter& f : resized->filters) {
    const Middle m = around(made.dims, f.axis, f.axis + 1);
    made.dims[f.axis] = f.to;
    if (!is_countable(made)) return Decline{"more elements than kernels count"};
    const auto taps = static_cast<int>(f.taps);
    filters.push_back({{*type, *width, taps, m.outer, f.from, f.to, m.inner, nullptr, nullptr, nullptr},
                       std::make_shared<Brought>(bytes_of(f.table)),
                       made.bytes()});
    if (&f != &resized->filters.back()) step.scratch_bytes += made.bytes();
  }
  step.run = [filters = std::move(filters)](const Buffers& b) {
    const std::byte* from = b.in<std::byte>(0);
    std::byte* next = b.scratch;
    for (const Filter& filter : filters) {
      ResizeArgs args = filter.args;
      args.table = reinterpret_cast<const Tap*>(filter.table->at(queue_of(b)));
      args.in = from;
      args.out = &filter == &filters.back() ? b.out<std::byte>(0) : next;
      launch(b, &Kernels::resize, args);
      from = static_cast<const std::byte*>(args.out);
      next += filter.bytes;
    }
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Resize", .plan = plan},
    {.domain = "", .op = "Upsample", .plan = plan},
};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace mlopt::gpu
