#pragma once
// Terms of norms of any exponent.
#include <cmath>

#include "backends/gpu/device/number.h"

namespace mlopt::gpu {

/// |v|^p, by no logarithm for the usual ones.
MLOPT_DEVICE float power(float v, float p) { return p == 2 ? v * v : p == 1 ? fabsf(v) : powf(fabsf(v), p); }
/// sum^(1 / p).
MLOPT_DEVICE float root(float sum, float p) { return p == 2 ? sqrtf(sum) : p == 1 ? sum : powf(sum, 1 / p); }

}  // namespace mlopt::gpu
