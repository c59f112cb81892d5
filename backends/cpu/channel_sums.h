#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/planes.h"

namespace mlopt::cpu {

/// Sums over the elements of a channel, x counted from `shift`: of x, of x squared, of dy, of dy x. Without dy the last
/// two are 0.
struct ChannelSums {
  double x = 0, squares = 0, dy = 0, product = 0;
  float shift = 0;
};

/// One for each channel, in one pass over the tensors; the same whatever the number of threads. `dy` may be null.
void channel_sums(const Planes& p, const float* x, const float* dy, ChannelSums* sums);

/// out = a dy + b x + c, with factors for each channel; in place allowed.
struct Combination {
  const float *a, *b, *c;
};
void combine(const Planes& p, const Combination& factors, const float* x, const float* dy, float* out);

}  // namespace mlopt::cpu
