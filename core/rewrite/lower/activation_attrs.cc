#include "core/rewrite/lower/activation_attrs.h"

#include "core/ir/read_activation.h"

namespace mlopt::lower {
bool add_activation(const NodeView& view, std::vector<Attr>& attrs) {
  const auto act = activation_of(view);
  if (!act) return false;
  attrs.push_back({"activation", act->fn == Fn::kGeluTanh ? "FastGelu" : view.node().op, ""});
  attrs.push_back({"activation_params", std::vector{act->a, act->b}, ""});
  return true;
}

}  // namespace mlopt::lower
