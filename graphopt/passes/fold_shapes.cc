// Results of shape arithmetic that are known integers -> a constant, also where the data they came from are not
// constant.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

std::optional<Tensor> known_value(const Value& y) {
  const auto dims = y.type.static_dims();
  if (!y.symbolic || !dims || y.constant) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim& d : *y.symbolic) {
    if (!d.value()) return std::nullopt;
    numbers.push_back(*d.value());
  }
  if (element_count(*dims) != static_cast<int64_t>(numbers.size())) return std::nullopt;
  if (y.type.dtype == DType::kI64) return Tensor::of<int64_t>(*dims, numbers);
  if (y.type.dtype != DType::kI32) return std::nullopt;
  return Tensor::of<int32_t>(*dims, std::vector<int32_t>(numbers.begin(), numbers.end()));
}

void fold(Graph& graph, PassTally& tally) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) fold(*body, tally);
    Value* y = node->output(0);
    if (!y || y->is_output() || node->outputs().size() != 1 || y->uses.empty()) continue;
    const auto value = known_value(*y);
    if (!value) continue;
    graph.replace_uses(y, graph.add_constant(y->name, *value));
    ++tally.applied;
  }
}

void run(Model& model, const PassContext&, PassTally& tally) { fold(*model.graph, tally); }

}  // namespace

const Pass fold_shapes = {"fold_shapes", "compute shape arithmetic whose result does not depend on free dimensions",
                          nullptr, run};

}  // namespace mlopt::graphopt
