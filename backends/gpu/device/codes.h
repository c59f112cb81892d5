#pragma once
// Reading numbers whose type is known when a kernel runs: the same for all of its threads.
#include "backends/gpu/device/quantize.h"

namespace mlopt::gpu {

/// Element i of float numbers of a type.
MLOPT_DEVICE float float_at(Elem type, const void* from, uint32_t i) {
  switch (type) {
    case Elem::kF16:
      return widen(static_cast<const Half*>(from)[i]);
    case Elem::kBF16:
      return widen(static_cast<const Brain*>(from)[i]);
    default:
      return static_cast<const float*>(from)[i];
  }
}

/// Code i.
MLOPT_DEVICE int64_t code_at(Codes codes, const void* from, uint32_t i) {
  switch (codes.bits) {
    case 32:
      return codes.is_signed ? int64_t{static_cast<const int32_t*>(from)[i]} : static_cast<const uint32_t*>(from)[i];
    case 16:
      return codes.is_signed ? static_cast<const int16_t*>(from)[i] : static_cast<const uint16_t*>(from)[i];
    case 8:
      return codes.is_signed ? static_cast<const int8_t*>(from)[i] : static_cast<const uint8_t*>(from)[i];
    default: {
      const uint32_t bits = static_cast<uint32_t>(codes.bits), first = i * bits % 8;
      const int code =
          static_cast<const uint8_t*>(from)[static_cast<int64_t>(i) * bits / 8] >> first & ((1 << bits) - 1);
      return codes.is_signed && code >> (bits - 1) ? code - (1 << bits) : code;
    }
  }
}

/// An 8-bit code: a number of steps, rounded, from the zero point; NaN is none.
MLOPT_DEVICE uint8_t byte_of(bool is_signed, float steps, int zero) {
  if (steps != steps) steps = 0;
  constexpr float kFar = 1e6f;  // beyond all codes, but safe to convert
  steps = steps < -kFar ? -kFar : steps > kFar ? kFar : steps;
  const int code = static_cast<int>(rintf(steps)) + zero;
  const int low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
  return static_cast<uint8_t>(code < low ? low : code > high ? high : code);
}

/// Of floats of 8 and 4 bits: the number that code i stands for, and the code of a number.
MLOPT_DEVICE float code_float(Codes codes, const void* from, uint32_t i) {
  const auto code = static_cast<uint32_t>(code_at({codes.bits, false}, from, i));
  return Float8{codes.exponent}.widen(static_cast<uint8_t>(codes.bits == 4 ? (code & 8u) << 4 | (code & 7u) : code));
}
MLOPT_DEVICE uint32_t float_code(Codes codes, float x) {
  const uint32_t code = Float8{codes.exponent}.narrow(x);
  return codes.bits == 4 ? code >> 7 << 3 | (code & 7u) : code;
}

/// x rounded to a float type.
MLOPT_DEVICE float rounded_to(Elem type, float x) {
  return type == Elem::kF16 ? widen(narrow_half(x)) : type == Elem::kBF16 ? widen(narrow_brain(x)) : x;
}

}  // namespace mlopt::gpu
