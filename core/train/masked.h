#pragma once
#include "core/train/builder.h"

namespace mlopt::train {

/// The gradient of a matrix or filter, 0 where its weights are 0, as pruning leaves them: no optimizer then moves
/// these. Others, and weights of which all or none are 0, keep their gradient.
Value* masked(Builder& build, Value* gradient, const Tensor& weights);

}  // namespace mlopt::train
