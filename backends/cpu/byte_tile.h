#pragma once
#include <cstddef>
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
  static constexpr int64_t kSlack = 64;  ///< elements that may be read behind the last factor and offset

  Kind kind = Kind::kSums;
  const float *factors = nullptr, *offsets = nullptr;  ///< one for each column
  int32_t zero = 0;
  bool is_signed = false;
  const Sum* sum = nullptr;  ///< null: nothing is added
  void* out = nullptr;       ///< int32, float32 or 8 bits
  int64_t stride = 0;        ///< of its rows, in elements

  int64_t element_bytes() const { return kind == Kind::kBytes ? 1 : 4; }
};

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
  /// Rows of sums to elements [at + row stride, ...) of the result, which are its columns from `column` on.
  void (*finish)(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
                 int64_t columns, int64_t at) = nullptr;

  int most_rows(ByteForm form) const { return rows[static_cast<int>(form)]; }
};

/// Those of the best instruction set that this machine has.
ByteKernels byte_kernels();

}  // namespace mlopt::cpu
