#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

/// How MatMulNBits of accuracy level 4 rounds a block of what it multiplies: to 255 steps around zero.
struct ByteSteps {
  float step = 0, inverse = 0;

  /// Numbers that are not finite give any byte.
  int8_t rounded(float x) const {
    constexpr float kRounds = 12582912;  // 1.5 * 2^23: whole numbers then lie in the last bits of the sum
    return static_cast<int8_t>(std::bit_cast<int32_t>(x * inverse + kRounds));
  }
};
ByteSteps byte_steps(const float* x, int64_t count);

/// out = x, rounded so block by block; may be the same.
void round_row(const float* x, int64_t count, int64_t block, float* out);

/// The accuracy level of MatMulNBits that rounds rows so, and whether ONNX Runtime has a kernel for it: it has none for
/// some blocks of 2 bits.
inline constexpr int kByteLevel = 4;
bool has_byte_kernel(int64_t bits, int64_t block);

/// Does a MatMulNBits round its rows so?
bool rounds_rows(const NodeView& view);

/// Constant weights [n, k] of 2, 4 or 8 bits with a scale for each block of a row, of com.microsoft.MatMulNBits or
/// MatMulBnb4.
struct StoredWeights {
  int bits = 4;
  int64_t n = 0, k = 0;
  int64_t size = 0;                               ///< of a block, a multiple of 8
  Tensor codes;                                   ///< uint8 [n, blocks, size bits / 8], the lowest bits of a byte first
  Tensor scales;                                  ///< float32 [n, blocks]
  Tensor zeros;                                   ///< float32 [n, blocks], in codes
  const std::array<float, 16>* levels = nullptr;  ///< what the codes stand for; null: codes - zeros

  int64_t blocks() const { return (k + size - 1) / size; }
  float at(int64_t row, int64_t column) const;
};

/// Declines what is not constant, not of float32, of other sizes than the attributes say, or out of order.
Expected<StoredWeights> stored_weights(const NodeView& view);

}  // namespace mlopt
