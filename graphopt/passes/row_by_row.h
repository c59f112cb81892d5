#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/pass.h"

// Operators that work on each row of the last axis by itself, whatever the order of the axes before it.
namespace mlopt::graphopt {

/// Does each element of its only output depend on the elements at the same place of its inputs alone?
bool is_elementwise(const Node& node);

/// The order that a Transpose puts the axes in, where it leaves the last one; nothing for other nodes.
std::optional<std::vector<int64_t>> order_of_rows(const NodeView& transpose);

/// Inputs and outputs of `rank` axes that stay what they are to one another when the axes before the last are put in
/// another order in all of them; the other inputs are the same for all rows. Nothing where the node does more than
/// work row by row.
std::optional<std::vector<Value*>> turning_together(const Node& node, size_t rank, const Builder& builder);

}  // namespace mlopt::graphopt
