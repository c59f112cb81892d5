// Quantization that stays in floats, for training: mlopt's FakeQuantize and its gradient.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<FakeQuantizeArgs> args_of(const Site& site) {
  const TensorDesc &x = site.desc(0), &logs = site.desc(1);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (logs.dtype != x.dtype || !is_countable(x) || x.size() == 0) return Decline{"steps of another type"};
  FakeQuantizeArgs args{};
  args.type = *type;
  args.odd = site.view.get_int("odd", 0) != 0;
  args.low = static_cast<float>(site.view.get_int("low", 0));
  args.high = static_cast<float>(site.view.get_int("high", 0));
  args.count = x.size();
  args.steps = logs.size();
  args.inner = 1;
  if (logs.dims.empty()) return args;
  const int64_t axis = site.view.get_int("axis", 0);
  if (axis < 0 || axis >= static_cast<int64_t>(x.dims.size()) || logs.dims != Dims{x.dims[static_cast<size_t>(axis)]})
    return Decline{"the steps do not fit the axis"};
  args.inner = around(x.dims, static_cast<size_t>(axis)).inner;
  return args;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto args = args_of(site);
  if (!args) return args.error();
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.run = [args = *args](const Buffers& b) {
    FakeQuantizeArgs now = args;
    now.in = b.in<void>(0);
    now.logs = b.in<void>(1);
    now.out = b.out<void>(0);
    launch(b, &Kernels::fake_quantize, now);
  };
  return step;
}

/// Inputs x, log(step) and dy.
Expected<PlannedStep> plan_gradient(const Site& site) {
  const auto forward = args_of(site);
  if (!forward) return forward.error();
  if (site.desc(2) != site.desc(0)) return Decline{"dy does not fit"};
  constexpr int64_t kSlice = 8192, kMostSlices = 64;
  FakeQuantizeGradArgs args{};
  args.forward = *forward;
  args.share = site.view.get_float("share", 1);
  args.slices = std::clamp<int64_t>(forward->count / forward->steps / kSlice, 1, kMostSlices);
  PlannedStep step{.out = {site.desc(0), site.desc(1)}};
  step.scratch_bytes = static_cast<size_t>(forward->steps * args.slices) * sizeof(float);
  step.run = [args](const Buffers& b) {
    FakeQuantizeGradArgs now = args;
    now.forward.in = b.in<void>(0);
    now.forward.logs = b.in<void>(1);
    now.forward.out = b.out<void>(0);
    now.grad = b.in<void>(2);
    now.logs_out = b.out<void>(1);
    now.sums = reinterpret_cast<float*>(b.scratch);
    launch(b, &Kernels::fake_quantize_grad, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "FakeQuantize", .plan = plan},
    {.domain = "mlopt", .op = "FakeQuantizeGrad", .plan = plan_gradient},
};

}  // namespace

std::span<const Kernel> fake_quantize_kernels() { return kKernels; }

}  // namespace mlopt::gpu
