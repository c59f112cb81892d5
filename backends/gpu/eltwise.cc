// Functions of one operand, float.
#include <map>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/read_activation.h"

namespace mlopt::gpu {
namespace {

PlannedStep like_input(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  return step;
}

Expected<PlannedStep> plan_activation(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (!is_countable(x)) return Decline{"more elements than kernels count"};
  const auto act = activation_of(site.view);
  if (!act) return act.error();
  PlannedStep step = like_input(site);
  step.run = [type = *type, act = *act, count = x.size()](const Buffers& b) {
    launch(b, &Kernels::eltwise, EltwiseArgs{type, act, b.in<void>(0), b.out<void>(0), count});
  };
  return step;
}

Expected<PlannedStep> plan_math(const Site& site) {
  static const std::map<std::string_view, Math> kKnown{
      {"Sin", Math::kSin},     {"Cos", Math::kCos},     {"Tan", Math::kTan},     {"Asin", Math::kAsin},
      {"Acos", Math::kAcos},   {"Atan", Math::kAtan},   {"Sinh", Math::kSinh},   {"Cosh", Math::kCosh},
      {"Asinh", Math::kAsinh}, {"Acosh", Math::kAcosh}, {"Atanh", Math::kAtanh}, {"Sign", Math::kSign}};
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (!is_countable(x)) return Decline{"more elements than kernels count"};
  PlannedStep step = like_input(site);
  step.run = [type = *type, fn = kKnown.at(site.view.node().op), count = x.size()](const Buffers& b) {
    launch(b, &Kernels::math, MathArgs{type, fn, b.in<void>(0), b.out<void>(0), count});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Abs", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Ceil", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Clip", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Elu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Erf", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Exp", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Floor", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Gelu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "HardSigmoid", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "HardSwish", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "LeakyRelu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Log", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mish", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Neg", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Reciprocal", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Relu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Round", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Selu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sigmoid", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Softplus", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Softsign", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sqrt", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Swish", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Tanh", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "ThresholdedRelu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "Gelu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QuickGelu", .plan = plan_activation, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sin", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Cos", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Tan", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Asin", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Acos", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Atan", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sinh", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Cosh", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Asinh", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Acosh", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Atanh", .plan = plan_math, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sign", .plan = plan_math, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> eltwise_kernels() { return kKernels; }

}  // namespace mlopt::gpu
