#pragma once
#include <type_traits>

#include "backends/gpu/device/number.h"

namespace mlopt::gpu {

/// Floats to integers as core/tensor/convert.h has it: truncated, then wrapped; what does not fit into 64 bits is their
/// lowest number.
template <class To>
MLOPT_DEVICE To integer(float x) {
  if (std::is_same_v<To, uint64_t> && x >= 0x1p63f && x < 0x1p64f) return static_cast<To>(static_cast<uint64_t>(x));
  if (sizeof(To) == 8) {
    const bool fits = x >= -0x1p63f && x < 0x1p63f;
    return static_cast<To>(fits ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min());
  }
  const bool fits = x >= -0x1p63f && x < 0x1p63f;
  const int64_t wide = fits ? static_cast<int64_t>(x) : 0;
  return static_cast<To>(wide);
}

}  // namespace mlopt::gpu
