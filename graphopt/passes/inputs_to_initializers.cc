// Initializers that are inputs too -> constants, in files before IR version 4, where every initializer had to be one.
// A single number may be a setting of the model: it stays.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Writing the file lists them as inputs again.
void run(Model& model, const PassContext&, PassTally& tally) {
  if (model.ir_version == 0 || model.ir_version >= 4) return;
  Graph& graph = *model.graph;
  for (int i = static_cast<int>(graph.inputs().size()); i-- > 0;) {
    const Value* v = graph.inputs()[static_cast<size_t>(i)];
    if (!v->constant || v->constant->size() <= 1 || v->is_output()) continue;
    graph.remove_input(i);
    ++tally.applied;
  }
}

}  // namespace

const Pass inputs_to_initializers = {
    "inputs_to_initializers", "take what old files must list as inputs for the constants that they are", nullptr, run};

}  // namespace mlopt::graphopt
