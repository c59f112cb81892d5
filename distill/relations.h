#pragma once
#include "core/train/builder.h"

namespace mlopt::distill {

/// How the samples of a batch lie to each other. The products of their vectors are enough: nothing here grows with the
/// width of these.
struct Relations {
  Value* products;  ///< [N, N]: x_i . x_j
  Value* distance;  ///< [N, N]: |x_i - x_j|, exactly 0 between a sample and itself or its like
  Value* apart;     ///< [N, N]: 1 where the distance is not 0
};
/// `x`: [N, ...].
Relations relations(train::Builder& b, Value* x);

/// Mean of Huber's function of x - y with a threshold of 1, a scalar.
Value* mean_huber(train::Builder& b, Value* x, Value* y);

}  // namespace mlopt::distill
