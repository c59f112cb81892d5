#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mlopt::cpu {

/// Operators whose derivative has a vector loop; of their output v for the first three, else of their input.
enum class Slope {
  kRelu,
  kSigmoid,
  kTanh,
  kAbs,
  kClip,
  kElu,
  kErf,
  kGelu,
  kGeluTanh,
  kHardSigmoid,
  kHardSwish,
  kLeakyRelu,
  kSoftplus,
  kSwish,
};
/// By the name of the operator, as in the reference's table; "GeluTanh" is the approximated Gelu.
std::optional<Slope> slope_of(std::string_view op);

/// out[i] = dy[i] f'(v[i]), a and b being parameters of f; in place allowed.
void unary_grad(Slope slope, float a, float b, const float* v, const float* dy, float* out, int64_t count);

}  // namespace mlopt::cpu
