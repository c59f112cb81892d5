// MaxPool and AveragePool over one to three spatial axes.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/windows.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const bool max = site.view.node().op == "MaxPool", codes = x.dtype == DType::kI8 || x.dtype == DType::kU8;
  const auto type = max && codes ? elem_of(x.dtype) : float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.size() < 3 || x.dims.size() > 5) return Decline{"only 1 to 3 spatial axes"};
  if (site.view.node().outputs().size() > 1) return Decline{"indices are wanted"};
  const auto window = window_over(site.view, spatial_of(x.dims), site.view.get_ints("kernel_shape"));
  if (!window) return window.error();
  const auto places = positions(*window, spatial_of(x.dims), site.view.get_int("ceil_mode", 0) != 0);
  if (!places) return places.error();
  TensorDesc out{x.dtype, {x.dims[0], x.dims[1]}};
  out.dims.insert(out.dims.end(), places->begin(), places->end());
  if (!is_countable(x) || !is_countable(out)) return Decline{"more elements than kernels count"};
  PoolArgs args{};
  args.type = *type;
  args.kind = max                                              ? PoolKind::kMax
              : site.view.get_int("count_include_pad", 0) != 0 ? PoolKind::kAverageWithPadding
                                                               : PoolKind::kAverage;
  args.planes = x.dims[0] * x.dims[1];
  args.windows = windows_of(*window, x.dims, out.dims);
  const size_t absent = 3 - window->kernel.size();
  for (size_t k = 0; k < window->kernel.size(); ++k) args.after[absent + k] = static_cast<int>(window->end[k]);
  PlannedStep step{.out = {std::move(out)}};
  step.run = [args](const Buffers& b) {
    PoolArgs now = args;
    now.in = b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::pool, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MaxPool", .plan = plan},
    {.domain = "", .op = "AveragePool", .plan = plan},
};

}  // namespace

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace mlopt::gpu
