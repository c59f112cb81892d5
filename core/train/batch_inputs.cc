#include "core/train/batch_inputs.h"

#include "core/ir/bind.h"

namespace mlopt::train {

void bind_batch(Model& model, const BatchInputs& inputs, TypeRule types) {
  Graph& graph = *model.graph;
  for (int i = static_cast<int>(graph.inputs().size()); i-- > 0;)
    if (graph.inputs()[static_cast<size_t>(i)]->constant) graph.remove_input(i);
  for (const auto& [k, value] : inputs.fixed) {
    Value* input = graph.inputs().at(k);
    graph.replace_uses(input, graph.add_constant(input->name + "/fixed", value));
  }
  bind_input_shapes(model, inputs.dims, types);
  if (inputs.settle) inputs.settle(model);
}

}  // namespace mlopt::train
