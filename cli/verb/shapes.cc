#include <fmt/core.h>

#include <algorithm>

#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/ir/bind.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

/// The shapes of inputs of a run; nothing where one is no tensor, or where defaults are given too.
std::optional<std::vector<Dims>> shapes_of(const Batch& batch, const Graph& graph) {
  std::vector<Dims> shapes;
  for (const Datum& input : batch.inputs) {
    if (!input.is_tensor()) return std::nullopt;
    shapes.push_back(input.tensor().dims());
  }
  if (shapes.size() != required_inputs(graph).size()) return std::nullopt;
  return shapes;
}

/// Of texts, the problem may be the texts.
bool is_known(const Type& type) { return type.is_tensor() && type.dtype != DType::kString && type.static_dims(); }

}  // namespace

void result_is_broken(const std::string& what, const std::string& where) {
  throw Error{Code::kInternal, what, where,
              "please report it with the command line; fuse --bisect leaves out the pass that does it"};
}

void require_same_shapes(const RunComparison& comparison, const Model& source, const Dataset& data, int64_t batch) {
  const auto differs = [](const OutputComparison& output) { return !output.problem.empty(); };
  if (std::none_of(comparison.outputs.begin(), comparison.outputs.end(), differs)) return;
  Model bound = clone(source);
  inline_functions(bound);
  const int64_t count = data.batch_size() > 0 ? data.batch_size() : std::min(batch, data.size());
  const auto shapes = shapes_of(data.batch(0, count), *bound.graph);
  if (!shapes) return;
  bind_input_shapes(bound, *shapes, standard_types);
  for (size_t i = 0; i < comparison.outputs.size(); ++i) {
    const OutputComparison& output = comparison.outputs[i];
    if (differs(output) && is_known(bound.graph->outputs()[i]->type))
      result_is_broken(fmt::format("output '{}' of the result is not of the source's shape", output.name),
                       output.problem);
  }
}

}  // namespace mlopt::cli
