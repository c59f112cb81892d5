// Shape arithmetic over free dimensions that has the same result as an earlier one -> the earlier result.
#include <string>
#include <unordered_map>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// The same for two values exactly when they provably are equal; empty where that is not known.
std::string key_of(const Value& v) {
  if (!v.symbolic || v.constant || !v.type.has_dtype() || !v.type.dims) return {};
  const auto shape = v.type.static_dims();
  if (!shape || element_count(*shape) != static_cast<int64_t>(v.symbolic->size())) return {};
  std::string key = to_string(v.type) + ":";
  for (const Dim& d : *v.symbolic) {
    if (!d.known()) return {};
    key += d.str() + ";";
  }
  return key;
}

void merge(Graph& graph, const PassContext& context, PassTally& tally) {
  std::unordered_map<std::string, Value*> seen;
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) merge(*body, context, tally);
    Value* y = node->output(0);
    if (!y || node->outputs().size() != 1 || !context.allows(*node)) continue;
    std::string key = key_of(*y);
    if (key.empty()) continue;
    const auto [it, fresh] = seen.emplace(std::move(key), y);
    if (fresh || y->uses.empty() || y->is_output()) continue;
    graph.replace_uses(y, it->second);
    ++tally.applied;
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) { merge(*model.graph, context, tally); }

}  // namespace

const Pass eliminate_common_shapes = {"eliminate_common_shapes",
                                      "compute what depends on the same free dimensions once", nullptr, run};

}  // namespace mlopt::graphopt
