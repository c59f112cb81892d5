// Gradients of softmax and of normalizations of rows and groups of channels.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan_softmax(const Site& site) {
  const TensorDesc& y = site.desc(0);
  const auto type = float_of(y.dtype);
  if (!type) return type.error();
  if (y.dims.empty() || site.desc(1) != y || !is_countable(y)) return Decline{"dy does not fit"};
  const bool log = site.view.node().op == "LogSoftmaxGrad";
  const auto rank = static_cast<int64_t>(y.dims.size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), rank));
  PlannedStep step{.out = {y}};
  step.in_place = 1;
  step.run = [type = *type, log, m = around(y.dims, axis)](const Buffers& b) {
    launch(b, &Kernels::softmax_grad,
           SoftmaxGradArgs{type, log, m.outer, m.length, m.inner, b.in<void>(0), b.in<void>(1), b.out<void>(0)});
  };
  return step;
}

/// Inputs x, dy and scale give the gradients of x, scale and bias.
Expected<PlannedStep> norm_step(const Site& site, NormGradArgs args) {
  const TensorDesc &x = site.desc(0), &scale = site.desc(2);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (site.desc(1) != x || scale.dtype != x.dtype || scale.size() != args.period * args.channels)
    return Decline{"dy or scale do not fit"};
  if (!is_countable(x) || x.size() == 0) return Decline{"no elements, or more than kernels count"};
  constexpr int64_t kTerms = 64, kMostSlices = 64;  // of a slice's sum at least; of all
  args.slices = std::clamp<int64_t>(args.rows / args.period * args.inner / kTerms, 1,
                                    std::min(kMostSlices, args.rows / args.period));
  args.type = *type;
  args.epsilon = site.view.get_float("epsilon", 1e-5f);
  const int64_t stats = 2 * args.rows, sums = 2 * args.slices * args.period * args.channels;
  PlannedStep step{.out = {x, scale, scale}};
  step.scratch_bytes = static_cast<size_t>(stats + sums) * sizeof(float);
  step.run = [args, stats](const Buffers& b) {
    NormGradArgs now = args;
    now.in = b.in<void>(0);
    now.grad = b.in<void>(1);
    now.scale = b.in<void>(2);
    now.out = b.out<void>(0);
    now.scale_out = b.out<void>(1);
    now.bias_out = b.out<void>(2);
    now.stats = reinterpret_cast<float*>(b.scratch);
    now.sums = now.stats + stats;
    launch(b, &Kernels::norm_grad, now);
  };
  return step;
}

Expected<PlannedStep> plan_layer_norm(const Site& site) {
  const Dims& x = site.desc(0).dims;
  if (x.empty()) return Decline{"a scalar"};
  const auto axis = normalize_axis(site.view.get_int("axis", -1), static_cast<int64_t>(x.size()));
  const Middle m = around(x, static_cast<size_t>(axis), x.size());
  NormGradArgs args{};
  args.rms = site.view.get_int("centered", 1) == 0;
  args.rows = m.outer;
  args.length = args.channels = m.length;
  args.period = args.inner = 1;
  return norm_step(site, args);
}

Expected<PlannedStep> plan_group_norm(const Site& site) {
  const Dims& x = site.desc(0).dims;
  const int64_t groups = site.view.get_int("num_groups");
  if (x.size() < 2 || groups < 1 || x[1] % groups != 0) return Decline{"channels do not fit the groups"};
  NormGradArgs args{};
  args.period = groups;
  args.channels = x[1] / groups;
  args.inner = around(x, 2, x.size()).length;
  args.rows = x[0] * groups;
  args.length = args.channels * args.inner;
  return norm_step(site, args);
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "SoftmaxGrad", .plan = plan_softmax},
    {.domain = "mlopt", .op = "LogSoftmaxGrad", .plan = plan_softmax},
    {.domain = "mlopt", .op = "LayerNormGrad", .plan = plan_layer_norm},
    {.domain = "mlopt", .op = "GroupNormGrad", .plan = plan_group_norm},
};

}  // namespace

std::span<const Kernel> rows_grad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
