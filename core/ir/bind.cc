#include "core/ir/bind.h"

#include "core/base/error.h"

namespace mlopt {
namespace {

void forget(Graph& graph) {
  for (Value* value : graph.values()) {
    const bool inferred = value->producer || (graph.owner && value->is_input && !value->declared);
    if (inferred) value->type.dims.reset();
    value->symbolic.reset();
  }
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) forget(*body);
  }
}

}  // namespace

void bind_input_shapes(Model& model, const std::vector<Dims>& shapes, TypeRule standard) {
  forget(*model.graph);
  size_t next = 0;
  for (Value* input : model.graph->inputs()) {
    if (input->is_initializer()) continue;
    if (next == shapes.size()) internal_error("bind_input_shapes: fewer shapes than inputs");
    const Dims& dims = shapes[next++];
    if (input->type.is_tensor()) input->type.dims = SymDims(dims.begin(), dims.end());
  }
  infer(model, standard);
}

}  // namespace mlopt
