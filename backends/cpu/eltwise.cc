// Functions of one float32 input, element by element.
#include "backends/cpu/activation.h"
#include "backends/cpu/kernels.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

/// Powers that appear in variances and in GELU's approximation.
Expected<Activation> read_pow(const NodeView& view) {
  const Tensor* exponent = view.constant(1);
  if (!exponent || exponent->rank() > 0 || exponent->dtype() == DType::kString)
    return Decline{"not a constant exponent"};
  const double e = number_at(*exponent, 0);
  if (e != 2 && e != 3) return Decline{"only squares and cubes"};
  return Activation{e == 2 ? Fn::kSquare : Fn::kCube};
}

template <Expected<Activation> (*read)(const NodeView&)>
Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  const auto act = read(site.view);
  if (!act) return act.error();
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  step.run = [act = *act, count = x.size()](const Buffers& b) { apply(act, b.in<float>(0), b.out<float>(0), count); };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Abs", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Ceil", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Clip", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Elu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Erf", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Exp", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Floor", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Gelu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "HardSigmoid", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "HardSwish", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "LeakyRelu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Log", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mish", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Neg", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Pow", .plan = plan<read_pow>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Reciprocal", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Relu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Round", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Selu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sigmoid", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Softplus", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Softsign", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sqrt", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Swish", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Tanh", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "ThresholdedRelu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "Gelu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QuickGelu", .plan = plan<activation_of>, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> eltwise_kernels() { return kKernels; }

}  // namespace mlopt::cpu
