#pragma once
#include <array>
#include <cstdint>

#include "backends/cpu/bytes.h"

namespace mlopt::cpu {

/// Numbers of 8 bits in other steps, of the same type: what dequantize() and quantize() make of each of the 256.
class StepChange {
 public:
  StepChange(bool is_signed, const Steps& from, const Steps& to);

  /// out[i] = x[i] in the new steps; on the calling thread, `out` apart from `x`.
  void apply(const void* x, void* out, int64_t count) const;

 private:
  bool is_signed_, is_same_, is_linear_ = false;
  float factor_, offset_;  ///< where those give the same, without the zero point
  int32_t zero_;
  std::array<uint8_t, 256> table_;  ///< by the byte as stored
};

}  // namespace mlopt::cpu
