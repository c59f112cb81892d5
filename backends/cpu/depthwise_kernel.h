#pragma once
#include <cstdint>

#include "backends/cpu/activation.h"

namespace mlopt::cpu {

/// Results of a depthwise convolution side by side in a row: some of their channels, which lie innermost.
struct DepthwiseRow {
  const float* src;               ///< the pixel under the first column's first tap, which may lie outside
  const float* weights;           ///< of that tap, one for each channel of the results
  int64_t rows, taps;             ///< taps below each other, all of them on the input, and side by side
  int64_t src_row, src_tap;       ///< from tap to tap, in elements
  int64_t src_column;             ///< from column to column, in elements
  int64_t weight_row;             ///< in elements; weights of taps side by side lie `channels` apart
  int64_t left, right;            ///< columns at both ends with taps that lie outside
  int64_t columns;                ///< those and the ones between them
  int64_t src_before, src_after;  ///< elements of the source's row before `src` and from there on
  int64_t channels;               ///< that the results have
  int64_t begin, end;             ///< those computed: whole vectors, or as many as are left, and at least a vector
  const int64_t* first;  ///< where several results have one source: the first channel of it that vector i reads,
  const int32_t* lanes;  ///< and which of those that follow its lanes take
  const float* bias;     ///< one for each channel; null: 0
  const float* addend;   ///< lies as `out`; null: 0
  float low, high;       ///< results are cut off to; numbers
  const Activation* activation;  ///< another one; null: none
  float* out;
};

/// The loops of one instruction set.
struct DepthwiseKernels {
  int lanes = 0;  ///< of a vector
  /// [several results have one source]. The last vector lies over the one before it where the channels do not fill
  /// it: `addend` must not be `out` then.
  void (*row[2])(const DepthwiseRow& t) = {};
};

/// Those of the best instruction set that this machine has.
DepthwiseKernels depthwise_kernels();

}  // namespace mlopt::cpu
