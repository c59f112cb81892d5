#pragma once
// Floats of 8 bits, as ONNX and cuBLASLt have them: E4M3 (FLOAT8E4M3FN: finite, one NaN) and E5M2; and the codes of 4
// bits of E2M1, which is finite and has no NaN (it becomes -0), with their sign in the highest bit of a byte.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// How many bits of exponent a float of 8 bits has, 4 or 5, or one of 4 bits: 2.
struct Float8 {
  int exponent;

  MLOPT_DEVICE int mantissa() const { return exponent == 2 ? 1 : 7 - exponent; }
  MLOPT_DEVICE int bias() const { return (1 << (exponent - 1)) - 1; }
  MLOPT_DEVICE uint32_t largest() const { return exponent == 2 ? 0x07u : exponent == 4 ? 0x7eu : 0x7bu; }

  /// Exact.
  MLOPT_DEVICE float widen(uint8_t code) const {
    const uint32_t sign = (code & 0x80u) << 24, magnitude = code & 0x7fu;
    if (magnitude > largest())
      return bits_as<float>(sign | (exponent == 5 && magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u));
    // Times a power of two, which brings the exponent to its place, subnormal numbers included.
    const float scale = bits_as<float>(static_cast<uint32_t>(127 + 127 - bias()) << 23);
    return bits_as<float>(sign | bits_as<uint32_t>(bits_as<float>(magnitude << (23 - mantissa())) * scale));
  }

  /// The nearest, ties to even; what is too large becomes the largest.
  MLOPT_DEVICE uint8_t narrow(float x) const {
    const uint32_t bits = bits_as<uint32_t>(x), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
      return static_cast<uint8_t>(exponent == 2 ? 0x80u : sign | (exponent == 4 ? 0x7fu : 0x7eu));
    const int shift = 23 - mantissa();
    uint32_t code = 0;
    if (magnitude < static_cast<uint32_t>(128 - bias())
                        << 23) {  // the sum's last bits are those of a subnormal, rounded
      const uint32_t magic = static_cast<uint32_t>(128 - bias() + shift) << 23;
      code = bits_as<uint32_t>(bits_as<float>(magnitude) + bits_as<float>(magic)) - magic;
    } else {
      const uint32_t rounded = magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u);
      code = (rounded - (static_cast<uint32_t>(127 - bias()) << 23)) >> shift;
    }
    return static_cast<uint8_t>(sign | (code > largest() ? largest() : code));
  }
};

/// out[i, j] = sum of a[i, :] * x[j, :], not both E5M2, in rows of k, a multiple of 16; so is n.
struct Float8ProductArgs {
  Float8 a_type, x_type;
  int64_t m, n, k;
  const void *a, *x;
  float* out;
};
Status float8_product(Queue& queue, const Float8ProductArgs& args);
/// The same without a library.
Status float8_product_alone(Queue& queue, const Float8ProductArgs& args);

/// out[i, j] = sums[i, j] * a_scale * x_scale[j] + bias[j] for j below n; the sums lie in rows of `pitch`.
struct Float8EndArgs {
  int64_t m, n, pitch;
  bool each;                                     ///< x_scale has one for each j, else one for all
  const float *sums, *a_scale, *x_scale, *bias;  ///< bias may be null
  float* out;
};
Status float8_end(Queue& queue, const Float8EndArgs& args);

}  // namespace mlopt::gpu
