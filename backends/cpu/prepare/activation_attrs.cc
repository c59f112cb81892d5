#include "backends/cpu/prepare/activation_attrs.h"

#include <optional>

#include "backends/cpu/activation.h"

namespace mlopt::cpu {
namespace {

/// In the order of activation_params; nothing when they are not constant.
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

}  // namespace

bool add_activation(const NodeView& view, std::vector<Attr>& attrs) {
  auto params = params_of(view);
  if (!params) return false;
  const bool tanh = view.node().op == "Gelu" && view.get_string("approximate", "none") == "tanh";
  attrs.push_back({"activation", tanh ? "FastGelu" : view.node().op, ""});
  if (!params->empty()) attrs.push_back({"activation_params", std::move(*params), ""});
  return true;
}

}  // namespace mlopt::cpu
