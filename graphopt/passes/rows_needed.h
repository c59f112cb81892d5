#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/pass.h"

// What must be known of the inputs of a node for one row of its only output along an axis.
namespace mlopt::graphopt {

/// For each input, the axis along which that row alone is needed; nothing: the input is needed whole.
using RowOfInput = std::vector<std::optional<size_t>>;

/// Nothing where the node needs other rows too. `stays`: the axis stays, as one of length 1, in all of it; else it
/// goes.
std::optional<RowOfInput> rows_needed(const Node& node, size_t axis, bool stays, const Builder& builder);

/// Is it an operator on each element by itself, whose operands may be broadcast?
bool works_by_element(const Node& node);

/// The shape that such a Reshape, whose axis stays, makes of that row.
Value* shape_of_row(const Node& reshape, size_t axis, Builder& builder);

}  // namespace mlopt::graphopt
