#pragma once
#include <optional>
#include <vector>

#include "prune/structure/rule.h"

namespace mlopt::prune {

/// The numbers that an axis lies on when these are a weight: a matrix or a kernel, as it is or dequantized; float32.
/// Nothing for biases, activations, and other constants.
std::optional<Tensor> member_weight(const Axis& axis);

/// What a batch normalization behind the layer multiplies each of its outputs by, so that a weight counts as it would
/// with the normalization folded into it; empty where there is none.
std::vector<double> normalization_factors(const Axis& axis);

}  // namespace mlopt::prune
