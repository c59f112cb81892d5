#pragma once
#include <cstdint>

namespace mlopt::cpu {

/// Where the m x m results of a tile go: columns side by side, whole vectors, to out + places[i].
struct WinogradResult {
  const float* bias;      ///< one for each column; null: 0
  const float* addend;    ///< null: 0
  const int64_t* pixels;  ///< where in `addend`; -1: nowhere
  float low, high;        ///< limits of the results
  float* out;
  const int64_t* places;
};

/// What happens around the products of a convolution with 3 x 3 weights by Winograd's minimal filtering (Lavin and
/// Gray, "Fast Algorithms for Convolutional Neural Networks", 2016), one tile of m x m results from n x n pixels,
/// n = m + 2, for many channels side by side.
struct WinogradTransforms {
  /// pixels[n * n]: where the channels of a pixel begin in `image`, in elements; -1: in the padding. The channels of
  /// element i of the transformed tile go to out[i * stride]; whole vectors are written.
  void (*source)(const float* image, const int64_t* pixels, int64_t channels, float* out, int64_t stride) = nullptr;
  /// The sums lie as source() writes its elements. False where one of them is NaN or infinite.
  bool (*result)(const float* sums, int64_t stride, int64_t columns, const WinogradResult& to) = nullptr;
};

/// Those for m = 2 or m = 4, of the best instruction set that this machine has.
WinogradTransforms winograd_transforms(int m);

}  // namespace mlopt::cpu
