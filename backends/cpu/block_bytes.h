#pragma once
#include <cstdint>

#include "backends/cpu/packed_blocks.h"

namespace mlopt::cpu {

/// Can rows that are rounded to bytes be multiplied by these weights as such? Codes of 4 bits on all processors but
/// those without vectors.
bool multiplies_bytes(const PackedBlocks& weights);

/// A row as MatMulNBits of accuracy level 4 multiplies it, each block in steps of 1/127 of its largest magnitude, in
/// the order of the codes of a word; and for each part of a block the step, and the step times the sum of the bytes.
class ByteRow {
 public:
  static constexpr int64_t kPart = 32;  ///< codes whose products add up in 16 bits

  /// Bytes that a row takes, a multiple of 64.
  static int64_t size(const PackedBlocks& weights);
  static int64_t part(const PackedBlocks& weights);
  static void fill(const PackedBlocks& weights, const float* x, std::byte* out);
};

/// As multiply_panel(), of `count` rows that ByteRow::fill() wrote one after the other.
void multiply_panel_bytes(const PackedBlocks& weights, int64_t panel, const std::byte* rows, int64_t count, float* out,
                          int64_t out_stride);

}  // namespace mlopt::cpu
