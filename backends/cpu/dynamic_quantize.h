#pragma once
#include <cstdint>

#include "backends/cpu/bytes.h"

namespace mlopt::cpu {

/// Of DynamicQuantizeLinear: the scale and zero point of uint8 from the extremes of x[0, count) and 0, count > 0.
Steps dynamic_steps(const float* x, int64_t count);

/// x as uint8 in these steps, on the threads of the plan.
void quantize_all(const float* x, int64_t count, const Steps& steps, uint8_t* out);

}  // namespace mlopt::cpu
