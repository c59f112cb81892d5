#pragma once
#include <optional>
#include <string>

#include "core/calib/weights.h"

namespace mlopt {

/// Fills in how the tensor of these dims, in that input of the node, is a matrix, and of which operator; false where
/// the operator multiplies nothing by it.
bool lay_out(const Node& node, int operand, const Dims& dims, Weight& weight);

/// Its rows and columns where the tensor reaches its reader transposed: dims and places of the tensor itself.
void transpose(const Dims& dims, const std::vector<int64_t>& perm, Weight& weight);

}  // namespace mlopt
