#include "core/train/untie.h"

#include "core/train/constants.h"

namespace mlopt::train {

void untie_weights(Model& model) {
  Graph& graph = *model.graph;
  for (Node* node : graph.nodes()) {
    Value *from = node->is("Identity") ? node->input(0) : nullptr, *to = node->output(0);
    if (!from || !from->is_initializer() || from->is_input || !to || to->is_output()) continue;
    replace_by_initializer(graph, node, *from->constant);
    if (from->uses.empty() && !from->is_output()) graph.erase(from);
  }
}

}  // namespace mlopt::train
