// Reshapes and Transposes that follow each other -> at most Reshape, Transpose, Reshape, where that is fewer.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/axis_order.h"

namespace mlopt::graphopt {
namespace {

int cost_of(const std::vector<const Node*>& chain) {
  int cost = 0;
  for (const Node* node : chain) cost += AxisOrder::cost_of(*node);
  return cost;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  std::vector<const Node*> chain = layout_chain(m.root);
  if (chain.size() < 2) return Decline{};
  const Type& type = m.root->output(0)->type;
  bool known = false;
  for (; chain.size() > 1; chain.erase(chain.begin())) {
    Value* source = chain.front()->input(0);
    if (!source->type.dims) continue;
    AxisOrder order(source->type.dims->size());  // of axes that move whole, whatever the sizes are
    const bool ordered = order.apply(chain, builder);
    if (ordered && order.cost() == 0) return Replacement{source};
    AxisMap layout(*source->type.dims);
    const bool mapped = layout.apply(chain, builder);
    known = known || ordered || mapped;
    const bool fewer = ordered && order.cost() < cost_of(chain);
    // Unsqueeze and the like take axes of any length, 0 included, where a Reshape may not.
    const bool preferred = fewer && order.cost() <= layout.cost();
    if (mapped && !preferred && layout.cost() < std::ssize(chain))
      if (Value* made = layout.make(builder, source, type)) return Replacement{made};
    if (fewer) return Replacement{order.make(builder, source, type)};
  }
  return known ? Decline{} : Decline{"how the axes are parted is not known"};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass merge_layouts = {"merge_layouts", "replace a chain of Reshapes and Transposes by fewer of them", rules};

}  // namespace mlopt::graphopt
