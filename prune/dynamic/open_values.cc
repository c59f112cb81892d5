#include "prune/dynamic/open_values.h"

#include <unordered_set>

#include "core/ir/reads.h"

namespace mlopt::prune {

OpenValues::OpenValues(const Graph& graph) {
  for (const Value* v : graph.inputs())
    if (!v->is_initializer()) wait_for(*v);
}

void OpenValues::pass(const Node& node) {
  const std::vector<const Value*> all = read_by(node);
  const std::unordered_set<const Value*> read(all.begin(), all.end());
  for (const Value* v : read) {
    const auto found = open_.find(v);
    if (found != open_.end() && --found->second == 0) open_.erase(found);
  }
  for (const Value* v : node.outputs())
    if (v && !v->known_constant()) wait_for(*v);
}

/// Nodes that read it; those in bodies count with the node of the main graph that holds them.
void OpenValues::wait_for(const Value& value) {
  std::unordered_set<const Node*> readers;
  for (const Use& use : value.uses) readers.insert(outermost(use.node));
  if (!readers.empty() || value.is_output()) open_[&value] = readers.size() + (value.is_output() ? 1 : 0);
}

}  // namespace mlopt::prune
