// Functions of one float32 input, element by element.
#include <limits>

#include "backends/cpu/activation.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

Step run_activation(const NodeView& view, const CompileContext& context, Activation act) {
  return [act, next = Next(view, context)](Call& call) {
    const Tensor& x = call.in(0);
    if (x.dtype() != DType::kF32) return next.run(call, "not float32");
    apply(act, x.data<float>(), call.make(0, DType::kF32, x.dims()).mutable_data<float>(), x.size());
  };
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  auto act = activation_of(view.node().op);
  if (!act) return act.error();
  const bool selu = view.node().op == "Selu";
  act->a = view.get_float("alpha", act->a);
  act->b = view.get_float(selu ? "gamma" : "beta", act->b);
  if (act->fn == Fn::kGelu && view.get_string("approximate", "none") == "tanh") act->fn = Fn::kGeluTanh;
  return run_activation(view, context, *act);
}

Expected<Step> compile_clip(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  constexpr float kMost = std::numeric_limits<float>::max();
  const auto low = view.number("min", 1, -kMost), high = view.number("max", 2, kMost);
  if (!low || !high) return Decline{"the limits are not constant"};
  if (*low > *high) return Decline{"the limits cross"};
  return run_activation(view, context, {Fn::kClip, static_cast<float>(*low), static_cast<float>(*high)});
}

/// Powers that appear in variances and in GELU's approximation.
Expected<Step> compile_pow(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  const Tensor* exponent = packable(view, 1, context);
  if (!exponent || exponent->rank() > 0 || exponent->dtype() == DType::kString)
    return Decline{"not a constant exponent"};
  const double e = number_at(*exponent, 0);
  if (e != 2 && e != 3) return Decline{"only squares and cubes"};
  return run_activation(view, context, {e == 2 ? Fn::kSquare : Fn::kCube});
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Abs", .compile = compile},
    {.domain = "", .op = "Ceil", .compile = compile},
    {.domain = "", .op = "Clip", .compile = compile_clip},
    {.domain = "", .op = "Elu", .compile = compile},
    {.domain = "", .op = "Erf", .compile = compile},
    {.domain = "", .op = "Exp", .compile = compile},
    {.domain = "", .op = "Floor", .compile = compile},
    {.domain = "", .op = "Gelu", .compile = compile},
    {.domain = "", .op = "HardSigmoid", .compile = compile},
    {.domain = "", .op = "HardSwish", .compile = compile},
    {.domain = "", .op = "LeakyRelu", .compile = compile},
    {.domain = "", .op = "Log", .compile = compile},
    {.domain = "", .op = "Mish", .compile = compile},
    {.domain = "", .op = "Neg", .compile = compile},
    {.domain = "", .op = "Pow", .compile = compile_pow},
    {.domain = "", .op = "Reciprocal", .compile = compile},
    {.domain = "", .op = "Relu", .compile = compile},
    {.domain = "", .op = "Round", .compile = compile},
    {.domain = "", .op = "Selu", .compile = compile},
    {.domain = "", .op = "Sigmoid", .compile = compile},
    {.domain = "", .op = "Softplus", .compile = compile},
    {.domain = "", .op = "Softsign", .compile = compile},
    {.domain = "", .op = "Sqrt", .compile = compile},
    {.domain = "", .op = "Swish", .compile = compile},
    {.domain = "", .op = "Tanh", .compile = compile},
    {.domain = "", .op = "ThresholdedRelu", .compile = compile},
    {.domain = "com.microsoft", .op = "Gelu", .compile = compile},
    {.domain = "com.microsoft", .op = "QuickGelu", .compile = compile},
};

}  // namespace

std::span<const Kernel> eltwise_kernels() { return kKernels; }

}  // namespace mlopt::cpu
