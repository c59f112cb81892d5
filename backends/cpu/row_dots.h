#pragma once
#include <cstdint>

namespace mlopt::cpu {

// A row times a matrix as it lies in memory, on the calling thread: for few rows, packing takes longer than it saves.

/// Rows [count, width] that are `stride` elements apart.
struct RowsView {
  const float* data = nullptr;
  int64_t stride = 0, count = 0, width = 0;
};

/// out[i] = scale x . row i.
void dot_rows(const float* x, const RowsView& rows, float scale, float* out);

/// out[width] += the sum of weights[i] row i.
void add_weighted_rows(const float* weights, const RowsView& rows, float* out);

}  // namespace mlopt::cpu
