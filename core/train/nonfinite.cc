#include "core/train/nonfinite.h"

#include <fmt/core.h>

#include "core/tensor/finite.h"

namespace mlopt::train {
namespace {

bool is_finite(const Datum& value) { return !value.is_tensor() || mlopt::is_finite(value.tensor()); }

/// As the user knows it: by its node, or as an input or a weight.
std::string described(const Graph& graph, const std::string& name) {
  const Value* value = graph.find(name);
  if (value && value->producer) return value->producer->label();
  return fmt::format("the {} '{}'", value && value->is_input ? "input" : "weight", name);
}

}  // namespace

std::string first_nonfinite(const TrainingGraphs& graphs, std::span<const Datum> inputs, Backend& backend,
                            CompileOptions options) {
  const Graph& graph = *graphs.gradients.graph;
  for (const std::string& name : graphs.parameters)
    if (!is_finite(graphs.state->at(name))) return fmt::format("the weight '{}'", name);
  options.state = graphs.state;
  options.updates.clear();
  for (const Value* v : graph.values())
    if (!v->constant && is_float(v->type.dtype)) options.taps.push_back(v->name);
  std::string found;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    const std::string text(name);
    if (found.empty() && !graphs.state->has(text) && !is_finite(value)) found = described(graph, text);
  };
  backend.compile(graphs.gradients, options)->run(inputs, hooks);
  return found;
}

}  // namespace mlopt::train
