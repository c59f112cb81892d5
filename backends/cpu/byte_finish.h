#pragma once
#include <cstdint>

#include "backends/cpu/bytes.h"

namespace mlopt::cpu {

/// What becomes of sums of integers, element by element: themselves, sum factor + offset, or that in steps of 8 bits.
struct ByteFinish {
  enum class Kind { kSums, kFloats, kBytes };
  /// Bytes are then taken for numbers, added to others, and rounded again.
  struct Sum {
    Bytes other = {};  ///< lie as the result does
    float own_scale = 1, other_scale = 1, scale = 1;
    int32_t other_zero = 0, zero = 0;
  };
  static constexpr int64_t kSlack = 64;  ///< elements that may be read behind the last factor, offset and sum

  Kind kind = Kind::kSums;
  const float *factors = nullptr, *offsets = nullptr;  ///< one for each column
  int32_t zero = 0;
  bool is_signed = false;
  const Sum* sum = nullptr;  ///< null: nothing is added
  void* out = nullptr;       ///< int32, float32 or 8 bits
  int64_t stride = 0;        ///< of its rows, in elements

  int64_t element_bytes() const { return kind == Kind::kBytes ? 1 : 4; }
};

/// Rows of sums to elements [at + row stride, ...) of the result, which are its columns from `column` on; on the
/// calling thread.
void finish(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
            int64_t columns, int64_t at);

}  // namespace mlopt::cpu
