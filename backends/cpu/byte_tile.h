#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/bytes.h"

namespace mlopt::cpu {

/// How weights are packed for products, and what the left numbers are.
enum class ByteForm {
  kPairs,  ///< int16, with int16: two neighbours of the inner axis at a time, exact for all numbers of 8 bits
  kQuads,  ///< int8, with uint8: four at a time, exact where what is summed in 16 bits fits: see byte_pack.h
};
constexpr int64_t neighbours(ByteForm form) { return form == ByteForm::kQuads ? 4 : 2; }
constexpr int64_t left_bytes(ByteForm form) { return form == ByteForm::kQuads ? 1 : 2; }
constexpr int64_t weight_bytes(ByteForm form) { return form == ByteForm::kQuads ? 1 : 2; }

/// A few rows of a product times a panel of packed weights.
struct ByteTile {
  static constexpr int kMostRows = 12;
  const std::byte* const* rows;
  int64_t offset;          ///< behind all of them, in bytes
  const int32_t* offsets;  ///< behind that, where each step finds its neighbours
  int64_t twos;            ///< pairs of steps whose products are summed in 16 bits; only of quads
  int64_t ones;            ///< steps after them
  const void* panel;       ///< [step][columns of the panel][neighbours]
  const int32_t* start;    ///< what the sums of the panel's columns begin with
  int32_t* sums;           ///< [rows][columns of the panel]
};

/// Positions of a convolution that goes channel by channel: pairs of neighbours times the weights of both.
struct DepthTile {
  const std::byte* const* taps;  ///< where each pair of taps of the first position lies: [vector][lane][2] of int16
  int64_t pairs;
  int64_t positions, step;  ///< bytes from one to the next
  int64_t vectors;          ///< of channels
  const int16_t* weights;   ///< [vector][pair][lane][2]
  const int32_t* start;     ///< [vector][lane]: what sums begin with
  int32_t* sums;            ///< [position][vector][lane]
};

/// Numbers of 8 bits that become pairs of 16: of each channel, that of the first pixel and that of the second one.
struct NeighbourPixels {
  const uint8_t *first, *second;
  bool is_signed;
  int64_t step, count;  ///< from one pixel to the next, and how many
  int64_t channels;     ///< whole vectors
  int32_t* out;         ///< [pixel][channels]
};

/// The loops of one instruction set.
struct ByteKernels {
  static constexpr int kVectors = 2, kForms = 2;

  int rows[kForms] = {};  ///< of the largest tile
  int lanes = 0;          ///< sums in a vector
  int width = 0;          ///< columns of a panel: kVectors * lanes; the last panel has `lanes` when that is enough
  /// [form][vectors of the panel - 1][rows - 1]
  void (*tile[kForms][kVectors][ByteTile::kMostRows])(const ByteTile& t) = {};
  void (*depthwise)(const DepthTile& t) = nullptr;
  void (*pair_up)(const NeighbourPixels& p) = nullptr;
  /// out[i] = in[i] - zero.
  void (*widen)(Bytes in, int64_t count, int32_t zero, int16_t* out) = nullptr;

  int most_rows(ByteForm form) const { return rows[static_cast<int>(form)]; }
};

/// Those of the best instruction set that this machine has.
ByteKernels byte_kernels();

}  // namespace mlopt::cpu
