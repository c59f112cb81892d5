#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// Counts of a stream of numbers in bins of equal width over [-reach, reach]. The reach doubles when a number falls
/// outside, two bins becoming one, so that memory is fixed, the order of the numbers does not matter much, and nothing
/// is kept.
class Histogram {
 public:
  static constexpr int kBins = 8192;
  static constexpr int kLimits = 3, kCounts = 3 + kBins;  ///< of limits() and counts()

  Histogram() = default;
  /// As limits() and counts() gave it.
  Histogram(std::span<const double> limits, std::span<const int64_t> counts);

  /// Any numeric tensor. NaN and infinities are counted apart. Without bins, which are most of the work, all that is
  /// not said of single bins or their quantiles holds as well.
  void see(const Tensor& tensor, bool in_bins = true);
  /// Adds what another histogram of the same stream has seen; exact.
  void merge(const Histogram& other);

  int64_t count() const { return count_; }  ///< finite numbers seen
  int64_t zeros() const { return zeros_; }  ///< exact ones; they are in bin kBins / 2
  int64_t nonfinite() const { return nonfinite_; }
  double min() const { return min_; }  ///< exact; 0 when nothing was seen
  double max() const { return max_; }
  const std::vector<int64_t>& bins() const { return bins_; }
  double reach() const { return reach_; }
  double bin_width() const { return 2 * reach_ / kBins; }
  /// All that it holds, in numbers of one kind each: reach, min, max; count, zeros, nonfinite, bins.
  std::vector<double> limits() const { return {reach_, min_, max_}; }
  std::vector<int64_t> counts() const;
  /// The number below which a share q of those seen lie, within a bin's width and [min, max].
  double quantile(double q) const;

 private:
  void grow(double magnitude);

  std::vector<int64_t> bins_ = std::vector<int64_t>(kBins);
  double reach_ = 0, min_ = 0, max_ = 0;
  int64_t count_ = 0, zeros_ = 0, nonfinite_ = 0;
};

}  // namespace mlopt
