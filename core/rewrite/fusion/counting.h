#pragma once
#include <optional>

#include "core/ir/graph.h"
#include "core/rewrite/pass.h"

// What index arithmetic is known to hold, whatever the sizes.
namespace mlopt::fusion {

/// The axis along which the value is 0, 1, 2, ..., where all other axes have length 1.
std::optional<size_t> counts_along(const Value* v, const Builder& builder);

/// The one number that all elements are.
std::optional<double> only_number(const Value* v);

/// Is every element known to be true (of a bool)?
bool always_true(const Value* v);

}  // namespace mlopt::fusion
