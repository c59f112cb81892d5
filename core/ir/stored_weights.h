#pragma once
#include <array>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

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
