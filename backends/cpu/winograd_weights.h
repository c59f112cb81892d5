#pragma once
#include <vector>

#include "backends/cpu/conv_shape.h"
#include "backends/cpu/packed_product.h"

namespace mlopt::cpu {

/// Results along each side of a tile, 2 or 4, with which the convolution is expected to be done soonest by Winograd's
/// method; 0 where it is not the method's (3 x 3 weights, stride 1, one group) or convolving directly is expected to
/// be about as fast or faster.
int winograd_tile(const ConvShape& shape, int threads);

/// 3 x 3 weights transformed for tiles of m x m, a right matrix [C, M] for each of the (m + 2)^2 products.
class WinogradWeights {
 public:
  /// Weights [M, C, 3, 3].
  WinogradWeights(const float* weights, int64_t channels_out, int64_t channels, int m);

  int m() const { return m_; }
  int64_t channels() const { return products_[0].layout().depth; }
  int64_t channels_out() const { return products_[0].layout().columns; }
  const PackedMatrix& product(int64_t i) const { return products_[static_cast<size_t>(i)]; }
  size_t bytes() const { return products_.size() * products_[0].bytes(); }
  /// All numbers are finite.
  bool is_finite() const { return finite_; }
  /// The 3 x 3 weights from channel c to channel k, to rounding.
  void restore(int64_t k, int64_t c, float* weights) const;

 private:
  int m_;
  bool finite_ = true;
  std::vector<PackedMatrix> products_;
};

}  // namespace mlopt::cpu
