#pragma once
#include <cstdint>

#include "backends/cpu/activation.h"

namespace mlopt::cpu {

/// A float32 matrix where it lies; strides in elements, of any sign, may be 0.
struct MatrixView {
  const float* data = nullptr;
  int64_t row_stride = 0, column_stride = 1;

  /// An empty one may have no data, and stays without.
  MatrixView from(int64_t row, int64_t column) const {
    return {data ? data + row * row_stride + column * column_stride : nullptr, row_stride, column_stride};
  }
};

/// What one call of a tile kernel computes: c = activation(alpha a b + beta base + bias), with a few rows of the left
/// matrix, one panel of the right one, and a block of the inner axis.
struct Tile {
  int64_t depth = 0;         ///< of the block, of each piece of it
  int64_t pieces = 1;        ///< of the inner axis, whose columns of `a` lie one after the other
  int64_t piece_stride = 0;  ///< between their first columns in `a`
  MatrixView a;              ///< packed: only `data` counts
  const float* b = nullptr;  ///< the panel, from its first row in the block
  const float* ahead =
      nullptr;  ///< what is needed next and is fetched meanwhile: kAhead elements for each of the depth
  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t columns = 0;  ///< of c; the panel may be wider
  float alpha = 1, beta = 1;
  const float* base = nullptr;  ///< null: 0; may be c
  int64_t base_stride = 0;
  const float* bias = nullptr;  ///< one for each column; null: 0
  bool limited = false;         ///< c is cut off to [low, high]
  float low = 0, high = 0;
  const Activation* activation = nullptr;  ///< another one; null: none
};

/// The loops of one instruction set. The right matrix is packed in panels of `width` columns (the last one of `lanes`
/// when that is enough), each of them row after row.
struct ProductKernels {
  static constexpr int kMostRows = 14, kVectors = 2;
  static constexpr int64_t kAhead = 4, kSlack = 16;

  int rows = 0;   ///< of the largest tile
  int lanes = 0;  ///< of a vector
  int width = 0;  ///< of a panel: kVectors * lanes
  /// [left rows are packed][vectors of the panel - 1][rows - 1]
  void (*tile[2][kVectors][kMostRows])(const Tile& t) = {};
  /// out[k * out_stride + line] = in[line * line_stride + k * depth_stride]: rows of a left matrix (out_stride is their
  /// count) or columns of a right one (out_stride is the panel's width; the missing columns become 0). May write up to
  /// kSlack elements beyond.
  void (*pack)(const float* in, int64_t line_stride, int64_t depth_stride, int64_t lines, int64_t depth, float* out,
               int64_t out_stride) = nullptr;
};

/// Those of the best instruction set that this machine has.
ProductKernels product_kernels();

}  // namespace mlopt::cpu
