#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt::quantize {

/// A matrix Q [size, size] that is its own inverse and leaves the vector of ones as it is, so that means and variances
/// of features stay: B D B^T with D a diagonal of signs, the first 1, and B the Hadamard matrix of the largest power of
/// two in the size, times (Kronecker) the cosine transform of what is left, which is odd. A feature that is large alone
/// becomes a little of all.
class Rotation {
 public:
  Rotation(int64_t size, uint64_t seed);

  int64_t size() const { return static_cast<int64_t>(signs_.size()); }
  /// x Q, in place.
  void apply(std::span<double> x) const;
  /// A tensor of float32 or another float whose vectors along `axis` are multiplied by Q, after their entries have been
  /// multiplied by `scale` where that is not empty. `axis` is the last, or the first of two.
  Tensor apply(const Tensor& tensor, int axis, const std::vector<float>& scale = {}) const;

 private:
  void transform(std::span<double> x, bool back) const;

  std::vector<double> signs_;
  size_t odd_ = 1;             ///< of the size
  std::vector<double> basis_;  ///< of the cosine transform [odd, odd], a row for each place
};

}  // namespace mlopt::quantize
