#include <fmt/core.h>

#include <optional>

#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/bind.h"
#include "core/ir/infer.h"
#include "core/ir/macs.h"
#include "prune/dynamic/early_exit.h"
#include "prune/dynamic/open_values.h"

namespace mlopt::prune {
namespace {

constexpr int64_t kOpset = 11;  // of ScatterND

std::optional<int64_t> size_of(const Value& value, size_t axis) {
  return value.type.dims && axis < value.type.dims->size() ? (*value.type.dims)[axis].value() : std::nullopt;
}

void require_classifier(const Model& model) {
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    unsupported_error("an early exit " + what, model.path, fix);
  };
  const Graph& graph = *model.graph;
  if (graph.outputs().size() != 1)
    refuse("is of classifiers, which have one output", "mlopt fuse --extract leaves one");
  const Value& y = *graph.outputs()[0];
  if (!y.type.dims || y.type.dims->size() != 2 || y.type.dtype != DType::kF32 || !size_of(y, 1))
    refuse(fmt::format("is of classifiers, whose output is [N, classes] in float32, and '{}' is not", y.name), "");
  if (const auto batch = size_of(y, 0); batch && *batch != 1)
    refuse(fmt::format("is taken by each sample for itself, and the model takes {} at once", *batch),
           "export it with a free batch, or one of 1");
  if (model.opset() < kOpset) refuse(fmt::format("needs opset {}", kOpset), "mlopt convert --opset 17");
}

/// A classifier can be put there.
bool can_be_read(const Value& v) {
  if (!v.type.dims || v.type.dtype != DType::kF32 || v.known_constant()) return false;
  const size_t rank = v.type.dims->size();
  return (rank == 2 && size_of(v, 1)) || (rank == 3 && size_of(v, 2)) || (rank == 4 && size_of(v, 1));
}

}  // namespace

std::vector<ExitPlace> exit_places(const Model& source, TypeRule standard) {
  Model model = clone(source);
  infer(model, standard);
  require_classifier(model);
  bind_input_shapes(model, concrete_shapes(model_inputs(model), {}), standard);
  OpenValues open(*model.graph);
  std::vector<ExitPlace> places;
  int64_t done = 0;
  for (const Node* node : model.graph->nodes()) {
    done += macs(NodeView(*node, model.opset(node->domain))).value_or(0);
    open.pass(*node);
    const Value* v = open.only();
    if (done == 0 || !v || !v->producer || v->is_output() || !can_be_read(*v)) continue;
    if (!places.empty() && places.back().macs == done) places.pop_back();
    places.push_back({v->name, done});
  }
  // Behind the last product there is nothing to save.
  while (!places.empty() && places.back().macs == done) places.pop_back();
  return places;
}

}  // namespace mlopt::prune
