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

/// What stays what it is to one another when the axes before the last are put in another order in all of it.
struct TurningTogether {
  std::vector<Value*> rows;  ///< inputs and outputs of all axes
  std::vector<int> beside;   ///< inputs of fewer axes, by index, which are broadcast; all others are one row for all
};

/// Nothing where the node does more than work row by row, on rows of `rank` axes.
std::optional<TurningTogether> turning_together(const Node& node, size_t rank, const Builder& builder);

}  // namespace mlopt::graphopt
