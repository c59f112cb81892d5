#include "core/train/corrections.h"

#include "core/train/batch_norm.h"

namespace mlopt::train {

std::string correction_of(const std::string& parameter) { return parameter + "/correction"; }

void add_corrections(Graph& graph, std::span<const std::string> parameters, StateStore& state) {
  for (const std::string& name : parameters) {
    Value* weights = graph.find(name);
    if (!weights || !weights->constant) continue;
    const Tensor zeros = Tensor::zeros(weights->constant->dtype(), weights->constant->dims());
    Value* correction = move_to_state(graph, graph.add_constant(correction_of(name), zeros), state);
    Node* sum = graph.add_op("Add", {correction, correction}, {}, graph.next(nullptr), name + "/corrected");
    sum->output(0)->type = Type::tensor(zeros.dtype(), zeros.dims());
    graph.replace_uses(weights, sum->output(0));
    graph.set_input(sum, 0, weights);
  }
}

}  // namespace mlopt::train
