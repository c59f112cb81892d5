#pragma once
#include <optional>

#include "prune/structure/rule.h"

namespace mlopt::prune {

/// The numbers that an axis lies on when these are a weight: a matrix or a kernel, as it is or dequantized; float32.
/// Nothing for biases, activations, and other constants.
std::optional<Tensor> member_weight(const Axis& axis);

}  // namespace mlopt::prune
