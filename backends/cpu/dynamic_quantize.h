#pragma once
#include <cstdint>

#include "core/tensor/tensor.h"

namespace mlopt::cpu {

/// The scale and zero point that make the best use of uint8.
struct Stepping {
  float scale;
  int32_t zero;
};

/// Of DynamicQuantizeLinear: from the extremes of `x` (float32, not empty) and 0.
Stepping dynamic_stepping(const Tensor& x);

/// x as uint8 in these steps, on the threads of the plan.
void quantize_all(const Tensor& x, const Stepping& steps, uint8_t* out);

}  // namespace mlopt::cpu
