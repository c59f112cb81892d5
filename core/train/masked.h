#pragma once
#include "core/train/builder.h"

namespace mlopt::train {

/// The gradient of a matrix or filter, 0 where its weights are 0, as pruning leaves them: no optimizer then moves
/// these. `weights`: the data of an initializer of the graph. Others keep their gradient, and so do weights of which
/// none are 0, or all where no layer multiplies by them.
Value* masked(Builder& build, Value* gradient, const Tensor& weights);

}  // namespace mlopt::train
