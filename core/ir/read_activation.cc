#include "core/ir/read_activation.h"

#include <limits>
#include <map>

namespace mlopt {

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

}  // namespace mlopt
