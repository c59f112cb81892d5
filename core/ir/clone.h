#pragma once
#include <memory>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt {

/// A copy as clone() makes it, whose outputs are those of these values of `graph`.
std::unique_ptr<Graph> clone_ending_with(const Graph& graph, const std::vector<Value*>& outputs);

}  // namespace mlopt
