#pragma once
#include "backends/gpu/device/number.h"

namespace mlopt::gpu {

/// Division by a number that is fixed for a launch: a multiplication and a shift (Granlund and Montgomery 1994), exact
/// for numerators below 2^31.
struct Divider {
  uint32_t divisor = 1, factor = 0, shift = 0;

  Divider() = default;
  /// 0, the length of an axis without elements, divides nothing.
  explicit Divider(int64_t d) : divisor(d > 0 ? static_cast<uint32_t>(d) : 1) {
    while ((uint64_t{1} << shift) < divisor) ++shift;
    factor = static_cast<uint32_t>((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor) / divisor + 1);
  }
  MLOPT_DEVICE uint32_t quotient(uint32_t n) const {
    return static_cast<uint32_t>(((static_cast<uint64_t>(n) * factor >> 32) + n) >> shift);
  }
};

/// How element i of an index space, counted row by row, lies in kTensors tensors. Offsets and strides in elements.
template <int kTensors>
struct Walk {
  static constexpr int kAxes = 8;
  int rank = 0;  ///< at least 1; the innermost axis comes first
  Divider dims[kAxes] = {};
  int32_t strides[kAxes][kTensors] = {};
  int64_t count = 0;  ///< below 2^31

  MLOPT_DEVICE void locate(uint32_t i, int32_t (&at)[kTensors]) const {
    for (int k = 0; k < kTensors; ++k) at[k] = 0;
    for (int axis = 0; axis < rank; ++axis) {
      const uint32_t next = axis + 1 < rank ? dims[axis].quotient(i) : 0;
      const auto here = static_cast<int32_t>(i - next * dims[axis].divisor);
      for (int k = 0; k < kTensors; ++k) at[k] += here * strides[axis][k];
      i = next;
    }
  }
};

}  // namespace mlopt::gpu
