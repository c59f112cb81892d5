// Reshapes and Transposes that follow each other -> at most Reshape, Transpose, Reshape, where that is fewer.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/axis_order.h"

namespace mlopt::graphopt {
namespace {

/// By Transposes, Squeezes and Unsqueezes alone, whatever the sizes are.
std::optional<AxisOrder> order_of(const std::vector<const Node*>& chain, size_t first, const Builder& builder) {
  AxisOrder order(chain[first]->input(0)->type.dims->size());
  for (size_t i = first; i < chain.size(); ++i)
    if (!order.apply(*chain[i], builder)) return std::nullopt;
  return order;
}

int cost_of(const std::vector<const Node*>& chain, size_t first) {
  int cost = 0;
  for (size_t i = first; i < chain.size(); ++i) cost += AxisOrder::cost_of(*chain[i]);
  return cost;
}

std::optional<AxisMap> map_of(const std::vector<const Node*>& chain, size_t first, const Builder& builder) {
  AxisMap layout(*chain[first]->input(0)->type.dims);
  for (size_t i = first; i < chain.size(); ++i)
    if (!layout.apply(*chain[i], builder)) return std::nullopt;
  return layout;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<const Node*> chain = layout_chain(m.root);
  if (chain.size() < 2) return Decline{};
  const Type& type = m.root->output(0)->type;
  bool known = false;
  for (size_t first = 0; first + 1 < chain.size(); ++first) {
    Value* source = chain[first]->input(0);
    if (!source->type.dims) continue;
    const auto order = order_of(chain, first, builder);
    if (order && order->cost() == 0) return Replacement{source};
    const auto layout = map_of(chain, first, builder);
    known = known || order || layout;
    if (layout && layout->cost() < static_cast<int64_t>(chain.size() - first))
      if (Value* made = layout->make(builder, source, type)) return Replacement{made};
    if (order && order->cost() < cost_of(chain, first)) return Replacement{order->make(builder, source, type)};
  }
  return known ? Decline{} : Decline{"how the axes are parted is not known"};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass merge_layouts = {"merge_layouts", "replace a chain of Reshapes and Transposes by fewer of them", rules};

}  // namespace mlopt::graphopt
