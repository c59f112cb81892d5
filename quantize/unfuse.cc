#include "quantize/unfuse.h"

#include <algorithm>
#include <array>
#include <limits>

namespace mlopt::quantize {
namespace {

constexpr std::array kActivations = {"", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"};

/// The activation of the fused node, one of the above, over `x`.
Value* activated(Value* x, const NodeView& fused, Builder& builder) {
  const std::string op = fused.get_string("activation", "");
  const std::vector<float> params =
      fused.has("activation_params") ? fused.get_floats("activation_params") : std::vector<float>{};
  const auto param = [&](size_t i, float otherwise) { return i < params.size() ? params[i] : otherwise; };
  if (op.empty()) return x;
  if (op == "Relu" || op == "Sigmoid" || op == "Tanh") return builder.op(op, {x}, {}, x->type);
  if (op == "LeakyRelu") return builder.op(op, {x}, {{"alpha", param(0, 0.01f), {}}}, x->type);
  if (op == "HardSigmoid")
    return builder.op(op, {x}, {{"alpha", param(0, 0.2f), {}}, {"beta", param(1, 0.5f), {}}}, x->type);
  const float low = param(0, std::numeric_limits<float>::lowest()), high = param(1, std::numeric_limits<float>::max());
  if (builder.opset() < 11) return builder.op(op, {x}, {{"min", low, {}}, {"max", high, {}}}, x->type);
  return builder.op(
      op, {x, builder.constant("clip_min", Tensor::scalar(low)), builder.constant("clip_max", Tensor::scalar(high))},
      {}, x->type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& fused = *m.root;
  if (std::find(kActivations.begin(), kActivations.end(), builder.view(fused).get_string("activation", "")) ==
      kActivations.end())
    return Decline{"its activation is not known"};
  std::vector<Attr> attrs;
  for (const Attr& attr : fused.attrs)
    if (attr.name != "activation" && attr.name != "activation_params") attrs.push_back(attr);
  std::vector<Value*> inputs = {fused.input(0), fused.input(1)};
  if (fused.input(2)) inputs.push_back(fused.input(2));
  Type type = fused.output(0)->type;
  if (!type.is_tensor()) type = Type::tensor(fused.input(0)->type.dtype);
  Value* y = builder.op("Conv", std::move(inputs), std::move(attrs), type);
  if (fused.input(3)) y = builder.op("Add", {y, fused.input(3)}, {}, type);
  return Replacement{activated(y, builder.view(fused), builder)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("FusedConv", {Pattern::any("x"), Pattern::any("w")}).open().domain("com.microsoft"), rewrite}};
}

}  // namespace

const Pass unfuse = {"unfuse", "FusedConv as Conv, Add and an activation", rules};

}  // namespace mlopt::quantize
