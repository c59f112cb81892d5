// act(Conv(x, w, b)) -> com.microsoft.FusedConv(x, w, b), also where a sum has joined it: the activation runs over the
// output where it lies.
#include "backends/cpu/activation.h"
#include "backends/cpu/prepare/prepare.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::cpu {
namespace {

/// The activation's parameters in the order of activation_params; nothing when they are not constant.
std::optional<std::vector<float>> params_of(const NodeView& view) {
  const std::string& op = view.node().op;
  const auto act = activation_of(op);
  if (!act) return std::nullopt;
  if (op == "Clip") {
    const auto low = view.number("min", 1, act->a), high = view.number("max", 2, act->b);
    if (!low || !high || *low > *high) return std::nullopt;
    return std::vector{static_cast<float>(*low), static_cast<float>(*high)};
  }
  if (op == "LeakyRelu" || op == "Elu" || op == "Swish") return std::vector{view.get_float("alpha", act->a)};
  if (op == "HardSigmoid") return std::vector{view.get_float("alpha", act->a), view.get_float("beta", act->b)};
  return std::vector<float>{};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* conv = m.node("conv");
  if (conv->attr("activation")) return Decline{"it has an activation"};
  if (conv->output(0)->type.dtype != DType::kF32) return Decline{"it is not float32"};
  auto params = params_of(builder.view(*m.root));
  if (!params) return Decline{"its limits are not constant"};
  std::vector<Attr> attrs = conv->attrs;
  attrs.push_back({"activation", m.root->op, ""});
  if (!params->empty()) attrs.push_back({"activation_params", std::move(*params), ""});
  return Replacement{qdq::other_op(m, *conv, builder, "FusedConv", conv->inputs(), std::move(attrs))};
}

std::vector<Rule> rules() {
  const auto after = [](Pattern conv) {
    return Rule{Pattern::op("Relu|LeakyRelu|Clip|Sigmoid|Tanh|HardSigmoid|HardSwish|Swish",
                            {std::move(conv).open().as("conv").single_use()})
                    .open(),
                rewrite};
  };
  const std::vector<Pattern> inputs{Pattern::any("x"), Pattern::any("w")};
  return {after(Pattern::op("Conv", inputs)), after(Pattern::op("FusedConv", inputs).domain("com.microsoft"))};
}

}  // namespace

const Pass conv_activation = {"conv_activation", "an activation as part of the Conv before it", rules};

}  // namespace mlopt::cpu
