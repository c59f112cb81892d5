#include "prune/dynamic/open_values.h"

#include <unordered_set>

namespace mlopt::prune {

OpenValues::OpenValues(const Graph& graph) {
  for (const Value* v : graph.inputs())
    if (!v->is_initializer()) wait_for(*v);
}

void OpenValues::pass(const Node& node) {
  std::unordered_set<const Value*> read;
  for (const Value* v : node.inputs())
    if (v) read.insert(v);
  for (const Graph* body : node.bodies())
    for (const Value* v : captures(*body)) read.insert(v);
  for (const Value* v : read) {
    const auto found = open_.find(v);
    if (found != open_.end() && --found->second == 0) open_.erase(found);
  }
  for (const Value* v : node.outputs())
    if (v && !v->known_constant()) wait_for(*v);
}

const Value* OpenValues::other_than(const Value* value) const {
  for (const auto& [open, readers] : open_)
    if (open != value) return open;
  return nullptr;
}

/// Nodes that read it; those in bodies count with the node of the main graph that holds them.
void OpenValues::wait_for(const Value& value) {
  std::unordered_set<const Node*> readers;
  for (const Use& use : value.uses) {
    const Node* node = use.node;
    while (node->graph() != value.graph && node->graph()->owner) node = node->graph()->owner;
    readers.insert(node);
  }
  if (!readers.empty() || value.is_output()) open_[&value] = readers.size() + (value.is_output() ? 1 : 0);
}

}  // namespace mlopt::prune
