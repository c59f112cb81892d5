#pragma once
#include "backends/cpu/packed_blocks.h"

namespace mlopt::cpu {

/// Columns of a panel: four vectors of the best instruction set.
int64_t block_panel_width();

/// Rows of blocks() * block_size() numbers, zeros beyond k, and behind them the sums of their blocks.
struct BlockRows {
  const float* x = nullptr;
  int64_t count = 0, stride = 0;
};

/// out[row * out_stride + column] = x W of a panel's columns, on the calling thread. Columns beyond n are 0.
void multiply_panel(const PackedBlocks& weights, int64_t panel, const BlockRows& rows, float* out, int64_t out_stride);

/// out[depth, columns] = W of some columns from k on, as floats. `column` and `columns` are multiples of a vector's
/// lanes, within a panel, and k one of 16.
void unpack_columns(const PackedBlocks& weights, int64_t column, int64_t columns, int64_t k, int64_t depth, float* out);

}  // namespace mlopt::cpu
