// Results of shape arithmetic that are known integers -> a constant, also where the data they came from are not
// constant.
#include "core/ir/constant.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

void fold(Graph& graph, const PassContext& context, PassTally& tally) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) fold(*body, context, tally);
    Value* y = node->output(0);
    if (!y || y->is_output() || node->outputs().size() != 1 || y->uses.empty() || !context.allows(*node)) continue;
    const auto value = known_value(*y);
    if (!value) continue;
    replace_by_constant(graph, y, *value);
    ++tally.applied;
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) { fold(*model.graph, context, tally); }

}  // namespace

const Pass fold_shapes = {"fold_shapes", "compute shape arithmetic whose result does not depend on free dimensions",
                          nullptr, run};

}  // namespace mlopt::graphopt
