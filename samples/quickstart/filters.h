#pragma once
#include "core/base/rng.h"
#include "core/tensor/tensor.h"

namespace mlopt::quickstart {

/// Filters [count, channels, size, size] for the activations [n, channels, height, width]: what patches of these have
/// in common, found by k-means on whitened patches (Coates and Ng 2012, "Learning feature representations with
/// k-means"). `count` is at most 10000.
Tensor learn_filters(const Tensor& activations, int64_t count, int64_t size, Rng& rng);

}  // namespace mlopt::quickstart
