#include "core/rewrite/loop_invariants.h"

#include "core/ir/constant.h"
#include "core/rewrite/carried.h"

namespace mlopt {
namespace {

/// Is carried value k the one that the node was given, in every iteration?
bool is_invariant(const Node& node, const Graph& body, const Carried& carried, int k) {
  const Value* given = node.input(carried.input + k);
  const Value *v = carried.parameter(body, k), *y = carried.made(body, k);
  if (!given || before_identities(y) != v || v->output_uses != (y == v)) return false;
  const Value* last = node.output(k);
  // What is read by its name is to be the one outside; and an output has to be made by its own graph.
  return body.lookup(given->name) == given && !(last && last->is_output());
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  for (Node* node : all_nodes(*model.graph)) {
    const Carried carried = carried_by({*node, model.opset()});
    if (carried.count == 0 || !context.allows(*node)) continue;
    for (int k = carried.count - 1; k >= 0; --k) {
      // An operator that gives nothing is not written.
      if (node->outputs().size() <= 1 && node->output(k)) continue;
      if (!is_invariant(*node, *node->bodies()[0], carried, k)) continue;
      drop_carried(node, carried, k, node->input(carried.input + k), node->input(carried.input + k));
      ++tally.applied;
    }
  }
}

}  // namespace

const Pass loop_invariants = {"loop_invariants", "what a Loop or Scan only passes on, as values from outside", nullptr,
                              run};

}  // namespace mlopt
