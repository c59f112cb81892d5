// Reshapes and Transposes that follow each other -> at most Reshape, Transpose, Reshape, where that is fewer.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<const Node*> chain = layout_chain(m.root);
  if (chain.size() < 2) return Decline{};
  bool known = false;
  for (size_t first = 0; first + 1 < chain.size(); ++first) {
    Value* source = chain[first]->input(0);
    if (!source->type.dims) continue;
    AxisMap layout(*source->type.dims);
    bool fits = true;
    for (size_t i = first; i < chain.size() && fits; ++i) fits = layout.apply(*chain[i], builder);
    if (!fits) continue;
    known = true;
    if (layout.cost() >= static_cast<int64_t>(chain.size() - first)) continue;
    if (Value* made = layout.make(builder, source, m.root->output(0)->type)) return Replacement{made};
  }
  return known ? Decline{} : Decline{"how the axes are parted is not known"};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass merge_layouts = {"merge_layouts", "replace a chain of Reshapes and Transposes by fewer of them", rules};

}  // namespace mlopt::graphopt
