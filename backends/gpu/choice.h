#pragma once
#include <cstdint>

namespace mlopt::gpu {

/// A product of matrices, or (the first number is below 0) a convolution, and the algorithm that was the fastest for
/// it, in numbers that mean something to the plugin.
struct Choice {
  int64_t product[14];
  uint64_t algorithm[8];
};

}  // namespace mlopt::gpu
