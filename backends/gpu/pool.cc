// MaxPool, AveragePool and LpPool over one to three spatial axes, and their gradients.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/windows.h"

namespace mlopt::gpu {
namespace {

/// The pool over x, and what comes out of it.
struct Pooling {
  PoolArgs args;
  TensorDesc out;
};

PoolKind kind_of(const NodeView& view) {
  if (view.node().op.starts_with("Max")) return PoolKind::kMax;
  if (view.node().op.starts_with("Lp")) return PoolKind::kNorm;
  return view.get_int("count_include_pad", 0) != 0 ? PoolKind::kAverageWithPadding : PoolKind::kAverage;
}

Expected<Pooling> pooling_of(const Site& site, Elem type) {
  const TensorDesc& x = site.desc(0);
  if (x.dims.size() < 3 || x.dims.size() > 5) return Decline{"only 1 to 3 spatial axes"};
  const auto window = window_over(site.view, spatial_of(x.dims), site.view.get_ints("kernel_shape"));
  if (!window) return window.error();
  const auto places = positions(*window, spatial_of(x.dims), site.view.get_int("ceil_mode", 0) != 0);
  if (!places) return places.error();
  Pooling p{{}, {x.dtype, {x.dims[0], x.dims[1]}, x.layout}};
  p.out.dims.insert(p.out.dims.end(), places->begin(), places->end());
  if (!is_countable(x) || !is_countable(p.out)) return Decline{"more elements than kernels count"};
  p.args.type = type;
  p.args.kind = kind_of(site.view);
  if (p.args.kind == PoolKind::kNorm) {
    if (site.view.node().domain.empty() && site.view.opset() < 2) return Decline{"a broken exponent"};
    p.args.exponent = static_cast<float>(site.view.get_int("p", 2));
    if (p.args.exponent < 1) return Decline{"the exponent is below 1"};
  }
  const bool last = x.layout == Layout::kChannelsLast;
  p.args.planes = last ? x.dims[0] : x.dims[0] * x.dims[1];
  p.args.inner = last ? static_cast<int>(x.dims[1]) : 1;
  p.args.windows = windows_of(*window, x.dims, p.out.dims);
  const size_t absent = 3 - window->kernel.size();
  for (size_t k = 0; k < window->kernel.size(); ++k) p.args.after[absent + k] = static_cast<int>(window->end[k]);
  return p;
}

Expected<PlannedStep> plan(const Site& site) {
  const DType x = site.desc(0).dtype;
  const bool max = site.view.node().op == "MaxPool", codes = x == DType::kI8 || x == DType::kU8;
  const auto type = max && codes ? elem_of(x) : float_of(x);
  if (!type) return type.error();
  const bool places = site.view.node().outputs().size() > 1;
  if (places && site.desc(0).layout != Layout::kRowMajor) return Decline{"places are those of rows"};
  auto pooling = pooling_of(site, *type);
  if (!pooling) return pooling.error();
  pooling->args.column_by_column = site.view.get_int("storage_order", 0) != 0;
  PlannedStep step{.out = {pooling->out}};
  if (places) step.out.push_back({DType::kI64, pooling->out.dims});
  step.run = [args = pooling->args, places](const Buffers& b) {
    PoolArgs now = args;
    now.in = b.in<void>(0);
    now.out = b.out<void>(0);
    now.places = places ? b.out<int64_t>(1) : nullptr;
    launch(b, &Kernels::pool, now);
  };
  return step;
}

/// Inputs: a pool's x and dy.
Expected<PlannedStep> plan_gradient(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const auto pooling = pooling_of(site, *type);
  if (!pooling) return pooling.error();
  if (site.desc(1) != pooling->out) return Decline{"dy does not fit x and the window"};
  PlannedStep step{.out = {x}};
  if (pooling->args.kind == PoolKind::kMax || pooling->args.kind == PoolKind::kNorm)
    step.scratch_bytes = static_cast<size_t>(pooling->out.size()) * 4;
  step.run = [args = pooling->args](const Buffers& b) {
    PoolGradArgs now{args, b.in<void>(1), reinterpret_cast<int32_t*>(b.scratch), reinterpret_cast<float*>(b.scratch)};
    now.pool.in = b.in<void>(0);
    now.pool.out = b.out<void>(0);
    launch(b, &Kernels::pool_grad, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MaxPool", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "AveragePool", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "LpPool", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "mlopt", .op = "MaxPoolGrad", .plan = plan_gradient},
    {.domain = "mlopt", .op = "AveragePoolGrad", .plan = plan_gradient},
    {.domain = "mlopt", .op = "LpPoolGrad", .plan = plan_gradient},
};

}  // namespace

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace mlopt::gpu
