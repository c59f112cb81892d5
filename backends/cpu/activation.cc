#include "backends/cpu/activation.h"

#include <cmath>
#include <limits>
#include <map>

#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/activation.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// `above` where x > 0 or NaN, else `below`.
HWY_INLINE V split(V x, V above, V below) { return hn::IfThenElse(hn::Le(x, constant(0)), below, above); }

HWY_INLINE V expm1(V x) { return keep_nan(x, hn::Expm1(F(), hn::Min(x, constant(0)))); }

HWY_INLINE V gelu_tanh(V x) {
  constexpr float kRoot = 0.7978845608028654f;  // sqrt(2 / pi)
  const V inner = hn::Mul(constant(kRoot), hn::MulAdd(hn::Mul(constant(0.044715f), x), hn::Mul(x, x), x));
  return hn::Mul(hn::Mul(constant(0.5f), x), hn::Add(constant(1), tanh(inner)));
}

HWY_INLINE V gelu(V x) {
  constexpr float kRoot = 0.7071067811865476f;  // sqrt(1 / 2)
  return hn::Mul(hn::Mul(constant(0.5f), x), hn::Add(constant(1), erf(hn::Mul(x, constant(kRoot)))));
}

HWY_INLINE V ramp(V x, float a, float b) {
  const V y = hn::MulAdd(x, constant(a), constant(b));
  return limited(y, constant(0), constant(1));
}

void Apply(const Activation& act, const float* in, float* out, int64_t n) {
  const float a = act.a, b = act.b;
  const V zero = constant(0), one = constant(1);
  switch (act.fn) {
    case Fn::kNone:
      return map(in, out, n, [](V x) HWY_ATTR { return x; });
    case Fn::kAbs:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Abs(x); });
    case Fn::kCeil:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Ceil(x); });
    case Fn::kClip:
      return map(in, out, n, [=](V x) HWY_ATTR { return smaller(larger(x, constant(a)), constant(b)); });
    case Fn::kCube:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Mul(x, hn::Mul(x, x)); });
    case Fn::kElu:
      return map(in, out, n, [=](V x) HWY_ATTR { return split(x, x, hn::Mul(constant(a), expm1(x))); });
    case Fn::kErf:
      return map(in, out, n, [](V x) HWY_ATTR { return erf(x); });
    case Fn::kExp:
      return map(in, out, n, [](V x) HWY_ATTR { return exp(x); });
    case Fn::kFloor:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Floor(x); });
    case Fn::kGelu:
      return map(in, out, n, [](V x) HWY_ATTR { return gelu(x); });
    case Fn::kGeluTanh:
      return map(in, out, n, [](V x) HWY_ATTR { return gelu_tanh(x); });
    case Fn::kHardSigmoid:
      return map(in, out, n, [=](V x) HWY_ATTR { return ramp(x, a, b); });
    case Fn::kHardSwish:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Mul(x, ramp(x, a, b)); });
    case Fn::kLeakyRelu:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(constant(a), x), x); });
    case Fn::kLog:
      return map(in, out, n, [](V x) HWY_ATTR { return log(x); });
    case Fn::kMish:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Mul(x, tanh(softplus(x))); });
    case Fn::kNeg:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Neg(x); });
    case Fn::kReciprocal:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Div(one, x); });
    case Fn::kRelu:
      return map(in, out, n, [=](V x) HWY_ATTR { return larger(x, zero); });
    case Fn::kRound:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Round(x); });
    case Fn::kSelu:
      return map(in, out, n,
                 [=](V x) HWY_ATTR { return hn::Mul(constant(b), split(x, x, hn::Mul(constant(a), expm1(x)))); });
    case Fn::kSigmoid:
      return map(in, out, n, [](V x) HWY_ATTR { return sigmoid(x); });
    case Fn::kSoftplus:
      return map(in, out, n, [](V x) HWY_ATTR { return softplus(x); });
    case Fn::kSoftsign:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Div(x, hn::Add(one, hn::Abs(x))); });
    case Fn::kSqrt:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Sqrt(x); });
    case Fn::kSquare:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Mul(x, x); });
    case Fn::kSwish:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Mul(x, sigmoid(hn::Mul(constant(a), x))); });
    case Fn::kTanh:
      return map(in, out, n, [](V x) HWY_ATTR { return tanh(x); });
    case Fn::kThresholded:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(x, constant(a)), x); });
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Apply);

void apply(const Activation& act, const float* in, float* out, int64_t count) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  const auto run = HWY_DYNAMIC_DISPATCH(Apply);
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { run(act, in + begin, out + begin, end - begin); });
}

void apply_here(const Activation& act, const float* in, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(Apply)(act, in, out, count);
}

std::optional<Limits> limits_of(const Activation& act) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (act.fn) {
    case Fn::kNone:
      return Limits{-kInfinity, kInfinity};
    case Fn::kRelu:
      return Limits{0, kInfinity};
    case Fn::kClip:
      if (std::isnan(act.a) || std::isnan(act.b)) return std::nullopt;
      return Limits{act.a, act.b};
    default:
      return std::nullopt;
  }
}

Expected<Activation> activation_of(const std::string& op, const std::vector<float>& params) {
  constexpr float kMost = std::numeric_limits<float>::max();
  static const std::map<std::string, Activation> kKnown{
      {"Abs", {Fn::kAbs}},
      {"Ceil", {Fn::kCeil}},
      {"Clip", {Fn::kClip, -kMost, kMost}},
      {"Elu", {Fn::kElu, 1.0f}},
      {"Erf", {Fn::kErf}},
      {"Exp", {Fn::kExp}},
      {"FastGelu", {Fn::kGeluTanh}},
      {"Floor", {Fn::kFloor}},
      {"Gelu", {Fn::kGelu}},
      {"HardSigmoid", {Fn::kHardSigmoid, 0.2f, 0.5f}},
      {"HardSwish", {Fn::kHardSwish, 1.0f / 6.0f, 0.5f}},
      {"LeakyRelu", {Fn::kLeakyRelu, 0.01f}},
      {"Log", {Fn::kLog}},
      {"Mish", {Fn::kMish}},
      {"Neg", {Fn::kNeg}},
      {"QuickGelu", {Fn::kSwish, 1.702f}},
      {"Reciprocal", {Fn::kReciprocal}},
      {"Relu", {Fn::kRelu}},
      {"Round", {Fn::kRound}},
      {"Selu", {Fn::kSelu, 1.67326319217681884765625f, 1.05070102214813232421875f}},
      {"Sigmoid", {Fn::kSigmoid}},
      {"Softplus", {Fn::kSoftplus}},
      {"Softsign", {Fn::kSoftsign}},
      {"Sqrt", {Fn::kSqrt}},
      {"Swish", {Fn::kSwish, 1.0f}},
      {"Tanh", {Fn::kTanh}},
      {"ThresholdedRelu", {Fn::kThresholded, 1.0f}},
  };
  const auto known = kKnown.find(op);
  if (known == kKnown.end()) return Decline{"no vector function for " + op};
  Activation act = known->second;
  if (!params.empty()) act.a = params[0];
  if (params.size() > 1) act.b = params[1];
  return act;
}

Expected<Activation> activation_of(const NodeView& view) {
  const std::string& op = view.node().op;
  auto act = activation_of(op);
  if (!act) return act.error();
  if (op == "Clip") {
    const auto low = view.number("min", 1, act->a), high = view.number("max", 2, act->b);
    if (!low || !high) return Decline{"its limits are not constant"};
    if (*low > *high) return Decline{"its limits cross"};
    return Activation{Fn::kClip, static_cast<float>(*low), static_cast<float>(*high)};
  }
  act->a = view.get_float("alpha", act->a);
  act->b = view.get_float(op == "Selu" ? "gamma" : "beta", act->b);
  if (act->fn == Fn::kGelu && view.get_string("approximate", "none") == "tanh") act->fn = Fn::kGeluTanh;
  return *act;
}

Expected<Activation> fused_activation(const NodeView& view) {
  const std::string op = view.get_string("activation", "");
  if (op.empty()) return Activation{};
  std::vector<float> params = view.get_floats("activation_params");
  if (params.empty() && view.has("activation_alpha")) params.push_back(view.get_float("activation_alpha", 0));
  if (params.size() == 1 && view.has("activation_beta")) params.push_back(view.get_float("activation_beta", 0));
  return activation_of(op, params);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
