#pragma once
#include <functional>
#include <string_view>

#include "backends/cpu/broadcast.h"

namespace mlopt::cpu {

/// Functions of two float32 operands.
enum class Arithmetic { kAdd, kSub, kMul, kDiv, kMax, kMin, kPRelu };

/// out = op(a, b), row-major over pairing.dims, on the threads of the plan. `out` may be the operand that does not
/// repeat.
void run_arithmetic(Arithmetic op, const Paired& pairing, const float* a, const float* b, float* out);

/// The same for the output elements from `begin` to `end`, on the calling thread.
void run_arithmetic_between(Arithmetic op, const Paired& pairing, int64_t begin, int64_t end, const float* a,
                            const float* b, float* out);

/// What runs output 0 = op(input 0, input 1) of integers of 32 or 64 bits or float64; null for other types, and PRelu.
/// Integers wrap; a quotient is rounded towards zero, and by zero throws Error{kBadInput}.
std::function<void(const Buffers&)> integer_arithmetic(DType type, Arithmetic op, const Paired& pairing);

/// Of Add, Sub, Mul, Div, Max, Min or PRelu.
Arithmetic arithmetic_of(std::string_view op);

}  // namespace mlopt::cpu
