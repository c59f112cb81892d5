#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/exec/desc.h"
#include "core/ir/read_activation.h"

namespace mlopt::cpu {

/// The range, between numbers, that an activation cuts numbers off to (NaN stays), where that is all it does: infinite
/// without a function.
struct Limits {
  float low, high;
};
std::optional<Limits> limits_of(const Activation& act);

/// out[i] = fn(in[i]) on the threads of the plan; in and out may be the same.
void apply(const Activation& act, const float* in, float* out, int64_t count);
/// The same on the calling thread alone.
void apply_here(const Activation& act, const float* in, float* out, int64_t count);

/// Applies it in place to the elements of a tensor of float32 or bfloat16, on the threads of the plan.
void apply_to(const Activation& act, const TensorDesc& tensor, std::byte* elements);

}  // namespace mlopt::cpu
