#pragma once
#include <unordered_map>

#include "core/ir/model.h"

namespace mlopt::prune {

/// Values and nodes of a model and those of its copy.
struct Twins {
  std::unordered_map<const Value*, Value*> values;
  std::unordered_map<const Node*, Node*> nodes;
};

Twins find_twins(const Graph& graph, const Graph& copy);

}  // namespace mlopt::prune
