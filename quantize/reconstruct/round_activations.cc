#include "quantize/reconstruct/round_activations.h"

#include <cmath>

namespace mlopt::quantize {

std::map<std::string, std::string> round_activations(Model& model, const Plan& plan,
                                                     const std::map<std::string, Grid>& grids) {
  Graph& graph = *model.graph;
  std::map<std::string, std::string> logs;
  for (Value* v : plan.values) {
    if (plan.owner(v) != v) continue;  // moved codes are codes
    const Grid& grid = grids.at(v->name);
    Value* log = graph.add_constant(v->name + "_log", Tensor::scalar(std::log(grid.scale)));
    logs.emplace(v->name, log->name);
    // As emit_qdq(): who reads an integer node's result reads it rounded; a float's only integer nodes do.
    const bool integer = v->producer && (plan.nodes.contains(v->producer) || plan.clamped.contains(v->producer));
    const std::vector<Use> uses = v->uses;
    Node* fake = graph.add_op("FakeQuantize", {v, log},
                              {{"axis", int64_t{0}, {}},
                               {"low", int64_t{grid.low - grid.zero_point}, {}},
                               {"high", int64_t{grid.high - grid.zero_point}, {}}},
                              graph.next(v->producer), v->name + "_rounded", 1, "mlopt");
    fake->output(0)->type = v->type;
    for (const Use& use : uses)
      if (integer || plan.nodes.contains(use.node)) use.node->graph()->set_input(use.node, use.index, fake->output(0));
  }
  return logs;
}

}  // namespace mlopt::quantize
