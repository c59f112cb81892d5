#pragma once
#include <vector>

#include "core/ir/graph.h"

namespace mlopt {

/// All that the node reads, what its bodies capture included; a value that is read twice stands there twice.
std::vector<const Value*> read_by(const Node& node);

/// The node of the main graph that the node is, or is somewhere in the bodies of.
const Node* outermost(const Node* node);

}  // namespace mlopt
