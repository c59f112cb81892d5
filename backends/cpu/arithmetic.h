#pragma once
#include "backends/cpu/broadcast.h"

namespace mlopt::cpu {

/// Functions of two float32 operands.
enum class Arithmetic { kAdd, kSub, kMul, kDiv, kMax, kMin, kPRelu };

/// out = op(a, b), row-major over pairing.dims, on the threads of the plan. `out` may be the operand that does not
/// repeat.
void run_arithmetic(Arithmetic op, const Paired& pairing, const float* a, const float* b, float* out);

}  // namespace mlopt::cpu
