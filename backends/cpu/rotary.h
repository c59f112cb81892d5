#pragma once
#include <span>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// Angles of one row.
struct Turn {
  const float *cosines, *sines;
  int64_t half;  ///< so many of both
};
/// y is x, a head of `size` elements, with its first 2 half elements turned: element i with i + half or, interleaved,
/// 2 i with 2 i + 1. They do not overlap.
void turn_head(bool interleaved, const Turn& turn, const float* x, float* y, int64_t size);

/// RotaryEmbedding of both domains, float32.
std::span<const Kernel> rotary_kernels();

}  // namespace mlopt::cpu
