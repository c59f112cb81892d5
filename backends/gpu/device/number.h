#pragma once
// Elements as kernels see them. Nothing here knows of the rest of the program: it is compiled for devices and, to test
// what the kernels compute, for the host.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define MLOPT_DEVICE __device__ __forceinline__
#else
#define MLOPT_DEVICE inline
#endif

namespace mlopt::gpu {

enum class Elem : int { kF32, kF16, kBF16, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kBool };

template <class To, class From>
MLOPT_DEVICE To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &value, sizeof to);
  return to;
}

/// IEEE's binary16, computed in float32 and rounded to the nearest, ties to even.
struct Half {
  uint16_t bits;
};

/// The upper half of a float32, rounded likewise.
struct Brain {
  uint16_t bits;
};

MLOPT_DEVICE float widen(Half h) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(h.bits));
#else
  const uint32_t sign = (h.bits & 0x8000u) << 16, magnitude = h.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return bits_as<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // Times 2^112, which brings the exponent to its place, subnormal numbers included.
  return bits_as<float>(sign | bits_as<uint32_t>(bits_as<float>(magnitude << 13) * 0x1p112f));
#endif
}

MLOPT_DEVICE float widen(Brain b) { return bits_as<float>(static_cast<uint32_t>(b.bits) << 16); }

MLOPT_DEVICE Half narrow_half(float x) {
#ifdef __CUDA_ARCH__
  return {__half_as_ushort(__float2half_rn(x))};
#else
  const uint32_t bits = bits_as<uint32_t>(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // 65520 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: the sum's last bits are those of a subnormal, rounded
    const float shifted = bits_as<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (bits_as<uint32_t>(shifted) - 0x3f000000u))};
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u;
  return {static_cast<uint16_t>(sign | rounded >> 13)};
#endif
}

MLOPT_DEVICE Brain narrow_brain(float x) {
  const uint32_t bits = bits_as<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

/// What numbers of a type are computed in.
template <class T>
struct Computed {
  using Type = T;
};
template <>
struct Computed<Half> {
  using Type = float;
};
template <>
struct Computed<Brain> {
  using Type = float;
};
template <class T>
using Wide = typename Computed<T>::Type;

MLOPT_DEVICE float widen(float x) { return x; }
template <class T>
MLOPT_DEVICE Wide<T> widen(T x) {
  return x;
}

template <class T>
MLOPT_DEVICE T narrow(Wide<T> x) {
  return x;
}
template <>
MLOPT_DEVICE Half narrow<Half>(float x) {
  return narrow_half(x);
}
template <>
MLOPT_DEVICE Brain narrow<Brain>(float x) {
  return narrow_brain(x);
}

/// fn(T{}) with the type of float numbers; null-like Status where there is none such.
template <class Fn>
const char* by_float(Elem type, const Fn& fn) {
  switch (type) {
    case Elem::kF32:
      return fn(float{});
    case Elem::kF16:
      return fn(Half{});
    case Elem::kBF16:
      return fn(Brain{});
    default:
      return "no kernel for numbers of this type";
  }
}

/// The same with 32 and 64 bit integers besides.
template <class Fn>
const char* by_number(Elem type, const Fn& fn) {
  switch (type) {
    case Elem::kI32:
      return fn(int32_t{});
    case Elem::kI64:
      return fn(int64_t{});
    default:
      return by_float(type, fn);
  }
}

/// fn(T{}) with a type of `width` bytes.
template <class Fn>
const char* by_width(int width, const Fn& fn) {
  switch (width) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      return "no kernel moves elements of this width";
  }
}

/// All types.
template <class Fn>
const char* by_type(Elem type, const Fn& fn) {
  switch (type) {
    case Elem::kI8:
      return fn(int8_t{});
    case Elem::kU8:
      return fn(uint8_t{});
    case Elem::kI16:
      return fn(int16_t{});
    case Elem::kU16:
      return fn(uint16_t{});
    case Elem::kU32:
      return fn(uint32_t{});
    case Elem::kU64:
      return fn(uint64_t{});
    case Elem::kBool:
      return fn(bool{});
    default:
      return by_number(type, fn);
  }
}

}  // namespace mlopt::gpu
