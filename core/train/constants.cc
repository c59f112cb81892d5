#include "core/train/constants.h"

#include <algorithm>

namespace mlopt::train {
namespace {

bool is_matrix(const Tensor& tensor) { return is_float(tensor.dtype()) && tensor.rank() > 1 && tensor.size() > 1; }

/// Those of `body`, the graph itself or a branch in it, become initializers of `graph`.
void hoist(Graph& graph, const Graph& body) {
  for (Node* node : body.nodes()) {
    if (node->is("If"))
      for (const Graph* branch : node->bodies()) hoist(graph, *branch);
    const Value* value = node->is("Constant") ? node->output(0) : nullptr;
    if (!value || !value->constant || value->is_output() || !is_float(value->constant->dtype())) continue;
    replace_by_initializer(graph, node, *value->constant);
  }
}

}  // namespace

void replace_by_initializer(Graph& graph, Node* node, const Tensor& value) {
  Value* made = node->output(0);
  const std::string name = made->name;
  Value* own = graph.add_constant(name, value);
  graph.replace_uses(made, own);
  node->graph()->erase(node);
  graph.rename(own, graph.fresh_name(name));  // a branch may use a name that another has
}

void constants_to_initializers(Model& model) {
  Graph& graph = *model.graph;
  const std::vector<Value*> weights = graph.initializers();
  if (std::any_of(weights.begin(), weights.end(), [](const Value* v) { return !v->opaque && is_matrix(*v->constant); }))
    return;
  hoist(graph, graph);
}

}  // namespace mlopt::train
