#include "core/calib/parts.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/constant.h"
#include "core/ir/reads.h"
#include "core/rewrite/end_with.h"

namespace mlopt {
namespace {

/// Values of the main graph that inputs of the model, or chance, have a part in.
std::unordered_set<const Value*> varying_values(const Graph& graph) {
  std::unordered_set<const Value*> varying;
  for (const Value* v : graph.inputs())
    if (!v->constant) varying.insert(v);
  for (const Node* node : graph.nodes()) {
    const std::vector<const Value*> read = read_by(*node);
    const bool varies = read.empty() || is_random(*node) ||
                        std::any_of(read.begin(), read.end(), [&](const Value* v) { return varying.contains(v); });
    for (const Value* v : node->outputs())
      if (v && varies && !v->constant) varying.insert(v);
  }
  return varying;
}

}  // namespace

std::vector<std::string> values_before(const Model& model, const Node& node) {
  const Graph& graph = *model.graph;
  std::unordered_map<const Node*, int64_t> place;
  for (const Node* n : graph.nodes()) place.emplace(n, std::ssize(place));
  const std::unordered_set<const Value*> varying = varying_values(graph);
  std::vector<std::string> names;
  for (const Value* v : graph.values()) {
    if (!varying.contains(v) || (v->producer && place.at(v->producer) >= place.at(&node))) continue;
    const auto is_behind = [&](const Use& use) { return place.at(outermost(use.node)) >= place.at(&node); };
    if (std::any_of(v->uses.begin(), v->uses.end(), is_behind)) names.push_back(v->name);
  }
  return names;
}

Model part_between(const Model& model, std::span<const std::string> from, std::span<const std::string> to) {
  Model part = clone(model);
  Graph& graph = *part.graph;
  for (const std::string& name : from) {
    Value* made = graph.find(name);
    if (!made || made->is_input) continue;
    graph.rename(made, graph.fresh_name(name + "_made"));
    graph.replace_uses(made, graph.add_input(name, made->type));
  }
  end_with(part, to);
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    Value* v = graph.inputs()[i];
    if (!v->uses.empty() || v->is_output() || v->constant) continue;
    graph.remove_input(static_cast<int>(i));
    graph.erase(v);
  }
  return part;
}

const Node* first_changed(const Model& model, std::span<const std::string> constants) {
  const std::unordered_set<const Value*> varying = varying_values(*model.graph);
  std::unordered_set<const Value*> changed;
  bool inside = false;  // of a body
  for (const std::string& name : constants) {
    const Value* v = model.graph->find(name);
    inside |= v == nullptr;
    changed.insert(v);
  }
  for (const Node* node : model.graph->nodes()) {
    const std::vector<const Value*> read = read_by(*node);
    const bool reads_changed =
        std::any_of(read.begin(), read.end(), [&](const Value* v) { return changed.contains(v); });
    if (!reads_changed && !(inside && !node->bodies().empty())) continue;
    for (const Value* v : node->outputs()) {
      if (varying.contains(v)) return node;
      if (v) changed.insert(v);
    }
  }
  return nullptr;
}

std::vector<const Node*> part_starts(const Model& model, int64_t bytes) {
  std::vector<const Node*> starts;
  std::unordered_set<const Value*> held;
  int64_t sum = 0;
  for (const Node* node : model.graph->nodes()) {
    const auto add = [&] {
      int64_t more = 0;
      for (const Value* v : read_by(*node))
        if (v->constant && held.insert(v).second) more += static_cast<int64_t>(v->constant->bytes());
      return more;
    };
    const int64_t more = add();
    if (sum > 0 && more > 0 && sum + more > bytes) {
      starts.push_back(node);
      held.clear();
      sum = add();
      continue;
    }
    sum += more;
  }
  return starts;
}

}  // namespace mlopt
