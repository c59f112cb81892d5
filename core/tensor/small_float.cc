#include "core/tensor/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace mlopt {
namespace {

/// A sign bit, `exponent_bits`, `mantissa_bits`; the code points that are not finite differ by format.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  enum { kIeee, kFiniteNan, kUnsignedZero, kNoSpecial } specials;  ///< kUnsignedZero: the code of -0 is the only NaN
};

Format format_of(DType type) {
  switch (type) {
    case DType::kF16:
      return {5, 10, 15, Format::kIeee};
    case DType::kBF16:
      return {8, 7, 127, Format::kIeee};
    case DType::kF8E4M3FN:
      return {4, 3, 7, Format::kFiniteNan};
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, Format::kUnsignedZero};
    case DType::kF8E5M2:
      return {5, 2, 15, Format::kIeee};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, Format::kUnsignedZero};
    case DType::kF4E2M1:
      return {2, 1, 1, Format::kNoSpecial};
    default:
      internal_error("small_float: not a small float type");
  }
}

uint16_t sign_bit(const Format& f) { return static_cast<uint16_t>(1u << (f.exponent_bits + f.mantissa_bits)); }

/// Code of the largest finite magnitude.
uint16_t largest(const Format& f) {
  const int all = (1 << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.specials == Format::kIeee) return static_cast<uint16_t>(((1 << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
  return static_cast<uint16_t>(f.specials == Format::kFiniteNan ? all - 1 : all);
}

uint16_t nan_code(const Format& f) {
  switch (f.specials) {
    case Format::kUnsignedZero:
      return sign_bit(f);
    case Format::kFiniteNan:
      return static_cast<uint16_t>(sign_bit(f) - 1);
    case Format::kNoSpecial:
      return sign_bit(f);  // there is none: -0, as ONNX's tests have it
    default:
      return static_cast<uint16_t>(largest(f) + 1 + (1 << (f.mantissa_bits - 1)));
  }
}

float decode(const Format& f, uint16_t bits) {
  const uint16_t sign = bits & sign_bit(f);
  const auto magnitude = static_cast<uint16_t>(bits & (sign_bit(f) - 1));
  if (f.specials == Format::kUnsignedZero && bits == sign_bit(f)) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude > largest(f)) {
    const bool infinite = f.specials == Format::kIeee && magnitude == largest(f) + 1;
    const float special = infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return sign ? -special : special;
  }
  const int exponent = magnitude >> f.mantissa_bits, mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  const int full = exponent ? mantissa + (1 << f.mantissa_bits) : mantissa;
  const float value = std::ldexp(static_cast<float>(full), std::max(exponent, 1) - f.bias - f.mantissa_bits);
  return sign ? -value : value;
}

uint16_t encode(const Format& f, float value, bool saturate) {
  if (std::isnan(value)) return nan_code(f);
  const uint16_t sign = std::signbit(value) ? sign_bit(f) : uint16_t{0};
  const double a = std::fabs(static_cast<double>(value));
  const double most = decode(f, largest(f));
  uint16_t magnitude = 0;
  bool overflow = std::isinf(value);
  if (!overflow && a > 0) {
    const int exponent = std::max(std::ilogb(a), 1 - f.bias);
    const double steps = std::nearbyint(std::ldexp(a, f.mantissa_bits - exponent));
    overflow = std::ldexp(steps, exponent - f.mantissa_bits) > most;
    // A carry into the next exponent and the step from subnormal to normal fall out of the addition.
    magnitude =
        static_cast<uint16_t>(((exponent + f.bias - 1) << f.mantissa_bits) + static_cast<int>(overflow ? 0 : steps));
  }
  if (overflow) {
    if (saturate || f.specials == Format::kNoSpecial)
      magnitude = largest(f);
    else if (f.specials == Format::kIeee)
      magnitude = static_cast<uint16_t>(largest(f) + 1);
    else
      return nan_code(f) | (f.specials == Format::kFiniteNan ? sign : uint16_t{0});
  }
  if (f.specials == Format::kUnsignedZero && magnitude == 0) return 0;
  return sign | magnitude;
}

/// A bare exponent: 2^(code - 127), 255 is NaN; rounded up to the next power of two as ONNX's default.
float decode_e8m0(uint16_t bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(bits) - 127);
}
uint16_t encode_e8m0(float value) {
  if (std::isnan(value)) return 255;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);
  if (std::isinf(value)) return 254;
  if (value == 0) return 0;
  return static_cast<uint16_t>(std::clamp(exponent - (fraction == 0.5f ? 1 : 0) + 127, 0, 254));
}

}  // namespace

float small_to_float(DType type, uint16_t bits) {
  if (type == DType::kF16) return to_float(Half{bits});
  if (type == DType::kBF16) return to_float(BFloat16{bits});
  if (type == DType::kF8E8M0) return decode_e8m0(bits);
  return decode(format_of(type), bits);
}

uint16_t float_to_small(DType type, float value, bool saturate) {
  if (type == DType::kF16) return to_half(value).bits;
  if (type == DType::kBF16) return to_bfloat16(value).bits;
  if (type == DType::kF8E8M0) return encode_e8m0(value);
  return encode(format_of(type), value, saturate);
}

float to_float(BFloat16 h) { return std::bit_cast<float>(static_cast<uint32_t>(h.bits) << 16); }

BFloat16 to_bfloat16(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return {static_cast<uint16_t>((word >> 16) | 0x40)};
  return {static_cast<uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16)};
}

float to_float(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16;
  const uint32_t magnitude = h.bits & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // Scaling by 2^112 moves the exponent to float's bias and normalizes subnormals.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1.0p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

Half to_half(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((word >> 16) & 0x8000);
  const uint32_t magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds to 65536 or more
  if (magnitude < 0x38800000) {  // subnormal: adding 0.5 leaves the rounded value in the low bits
    const uint32_t sum = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f);
    return {static_cast<uint16_t>(sign | (sum - 0x3f000000))};
  }
  return {static_cast<uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13))};
}

}  // namespace mlopt
