// Results of shape arithmetic that are known integers -> a constant, also where the data they came from are not
// constant.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

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
  if (y.type.dtype == DType::kBool) return cast(Tensor::of<int64_t>(*dims, numbers), DType::kBool);
  if (y.type.dtype != DType::kI32) return std::nullopt;
  return Tensor::of<int32_t>(*dims, std::vector<int32_t>(numbers.begin(), numbers.end()));
}

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
