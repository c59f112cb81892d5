#pragma once
#include <cstdint>

#include "core/tensor/tensor.h"

namespace mlopt::cpu {

/// A pointer to elements of 8 bits, signed or not.
struct Bytes {
  const void* data;
  bool is_signed;

  /// From element `i` on.
  Bytes at(int64_t i) const { return {static_cast<const char*>(data) + i, is_signed}; }
};

struct MutableBytes {
  void* data;
  bool is_signed;

  MutableBytes at(int64_t i) const { return {static_cast<char*>(data) + i, is_signed}; }
};

inline bool is_bytes(DType type) { return type == DType::kU8 || type == DType::kI8; }

/// What a step is worth: numbers are (stored - zero) scale.
struct Steps {
  float scale = 1;
  int32_t zero = 0;
  friend bool operator==(const Steps&, const Steps&) = default;
};

/// An operand that is stored in steps, or repeats its first element.
struct SteppedRow {
  Bytes numbers;
  Steps steps;
  bool moves = true;
};

// Vector loops over contiguous rows, on the calling thread.

/// out[i] = (x[i] - zero) scale.
void dequantize(Bytes x, float* out, int64_t count, float scale, int32_t zero);
/// out[i] = round(x[i] / scale) + zero, ties to even, within the type's range.
void quantize(const float* x, MutableBytes out, int64_t count, float scale, int32_t zero);
/// As quantize(), of x[i] factor + offset instead of x[i] / scale.
void requantize(const float* x, MutableBytes out, int64_t count, float factor, float offset, int32_t zero);
/// As requantize(), with a factor and an offset for each element.
void requantize(const float* x, MutableBytes out, int64_t count, const float* factor, const float* offset,
                int32_t zero);
/// out[i] = x[i] + 128 or - 128: int8 as uint8 and back, in the order of the numbers.
void flip_sign(const void* x, void* out, int64_t count);
/// out[i] = a[i] + b[i], or a[i] b[i], in steps; all of one type.
void combine(bool multiplies, const SteppedRow& a, const SteppedRow& b, const Steps& steps, MutableBytes out,
             int64_t count);
/// sums[i] += x[i].
void add_to(Bytes x, int32_t* sums, int64_t count);
/// The sum of x[i].
int64_t sum(Bytes x, int64_t count);

}  // namespace mlopt::cpu
