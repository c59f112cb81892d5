#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/bytes.h"

namespace mlopt::cpu {

/// How weights are packed for products, and what the left numbers are.
enum class ByteForm {
  kPairs,      ///< int8, with int16: two neighbours of the inner axis at a time, exact for all numbers
  kWidePairs,  ///< int16, with int16: likewise, for weights that need more than 8 bits without their zero point
  kQuads,      ///< int8, with uint8: four at a time, exact where two neighbours' products fit in 16 bits
};
constexpr int64_t neighbours(ByteForm form) { return form == ByteForm::kQuads ? 4 : 2; }
constexpr int64_t left_bytes(ByteForm form) { return form == ByteForm::kQuads ? 1 : 2; }
constexpr int64_t weight_bytes(ByteForm form) { return form == ByteForm::kWidePairs ? 2 : 1; }

/// A few rows of a product, in segments that lie apart, times a panel of packed weights.
struct ByteTile {
  static constexpr int kMostRows = 12;
  const std::byte* const* rows;
  const int64_t* segments;  ///< where each begins behind the row, in bytes
  int64_t segment_count;
  int64_t offset;        ///< of all of them
  int64_t steps;         ///< pairs or quads of each segment
  const void* panel;     ///< [segment][step][columns of the panel][neighbours]
  const int32_t* start;  ///< what the sums of the panel's columns begin with
  int32_t* sums;         ///< [rows][columns of the panel]
};

/// Positions of a convolution that goes channel by channel.
struct DepthTile {
  const std::byte* const* rows;  ///< the first tap of each position, int16
  int64_t positions;
  const int64_t* taps;  ///< where they lie behind the first one in bytes, two a pair
  int64_t pairs;
  int64_t blocks;          ///< of channels: 2 x lanes each
  const int16_t* weights;  ///< [block][pair][2 vectors]: see pack_depthwise()
  int32_t* sums;           ///< [position][block][2 x lanes]
};

/// The loops of one instruction set.
struct ByteKernels {
  static constexpr int kVectors = 2, kForms = 3;

  int rows[kForms] = {};  ///< of the largest tile
  int lanes = 0;          ///< sums in a vector
  int width = 0;          ///< columns of a panel: kVectors * lanes; the last panel has `lanes` when that is enough
  /// [form][vectors of the panel - 1][rows - 1]
  void (*tile[kForms][kVectors][ByteTile::kMostRows])(const ByteTile& t) = {};
  void (*depthwise)(const DepthTile& t) = nullptr;
  /// out[i] = in[i] - zero.
  void (*widen)(Bytes in, int64_t count, int32_t zero, int16_t* out) = nullptr;

  int most_rows(ByteForm form) const { return rows[static_cast<int>(form)]; }
};

/// Those of the best instruction set that this machine has.
ByteKernels byte_kernels();

}  // namespace mlopt::cpu
