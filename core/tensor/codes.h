#pragma once
#include <array>
#include <cstdint>

namespace mlopt {

/// Code i of a run of codes of 2, 4 or 8 bits, the low bits of each byte first.
inline uint8_t code_at(const uint8_t* bytes, int width, int64_t i) {
  const int shift = width == 8 ? 0 : width == 4 ? 1 : 2;  // a byte holds 2^shift codes; divisions would be slow
  const auto in_byte = static_cast<int>(i & ((1 << shift) - 1));
  return static_cast<uint8_t>(bytes[i >> shift] >> (width * in_byte) & ((1 << width) - 1));
}

/// What the codes of com.microsoft.MatMulBnb4 stand for: quantiles of a normal distribution (Dettmers and others 2023,
/// "QLoRA"), and the 4-bit floats of bitsandbytes, a sign and a place in a list.
inline constexpr std::array<float, 16> kNF4 = {-1.0f,
                                               -0.6961928009986877f,
                                               -0.5250730514526367f,
                                               -0.39491748809814453f,
                                               -0.28444138169288635f,
                                               -0.18477343022823334f,
                                               -0.09105003625154495f,
                                               0.0f,
                                               0.07958029955625534f,
                                               0.16093020141124725f,
                                               0.24611230194568634f,
                                               0.33791524171829224f,
                                               0.44070982933044434f,
                                               0.5626170039176941f,
                                               0.7229568362236023f,
                                               1.0f};
inline constexpr std::array<float, 16> kFP4 = {
    0.0f, 5.208333333e-03f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};

}  // namespace mlopt
