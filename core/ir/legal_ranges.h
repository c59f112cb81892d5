#pragma once
#include <optional>

#include "core/ir/graph.h"
#include "core/tensor/value_range.h"

namespace mlopt {

/// What the graph says of a tensor input: token ids lie within the table that a Gather indexes with them, lengths
/// within the axis they measure, arguments of Log and the like within its domain, masks are 0 or 1 (also those known
/// only by their name), bytes any byte. Nothing where any number will do.
std::optional<ValueRange> legal_range(const Value& input);

}  // namespace mlopt
