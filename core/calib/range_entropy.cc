#include <algorithm>
#include <cmath>
#include <limits>

#include "core/calib/range.h"

namespace mlopt {
namespace {

/// Kullback-Leibler divergences of the distribution clipped to its first n bins (what lies beyond falls into the last
/// of them) from the same bins, without what lies beyond, averaged over groups. Empty bins stay empty. Sums over a
/// range of bins are differences of running sums, so that each n costs as many steps as there are groups.
class Divergence {
 public:
  explicit Divergence(const std::vector<double>& counts) : counts_(counts) {
    for (const double c : counts) total_ += c;
    for (const double c : counts) {
      mass_.push_back(mass_.back() + c);
      filled_.push_back(filled_.back() + (c > 0));
      entropy_.push_back(entropy_.back() + term(c));
    }
  }

  double of(size_t n, size_t groups) const {
    const double inside = mass_[n], beyond = total_ - inside;
    if (inside <= 0) return std::numeric_limits<double>::infinity();
    double cross = 0, last = 0;  // sum of p log q; q of the last bin
    for (size_t group = 0; group < groups; ++group) {
      const size_t begin = group * n / groups, end = (group + 1) * n / groups;
      const double mass = mass_[end] - mass_[begin];
      if (mass <= 0) continue;
      last = mass / (filled_[end] - filled_[begin]) / inside;
      cross += mass / total_ * std::log(last);
    }
    // An empty last bin holds only what was clipped: Q gives it the smallest mass rather than none.
    if (beyond > 0) cross += beyond / total_ * std::log(counts_[n - 1] > 0 ? last : 1e-10);
    return entropy_[n - 1] + term(counts_[n - 1] + beyond) - cross;
  }

 private:
  double term(double count) const { return count > 0 ? count / total_ * std::log(count / total_) : 0; }

  const std::vector<double>& counts_;
  double total_ = 0;
  std::vector<double> mass_ = {0}, filled_ = {0}, entropy_ = {0};  // of the bins before i
};

}  // namespace

Range entropy_range(const Histogram& histogram, int levels) {
  const std::vector<double> counts = histogram.folded();
  const bool one_sided = histogram.min() >= 0 || histogram.max() <= 0;
  const auto groups = static_cast<size_t>(one_sided ? levels : levels / 2);
  const double width = histogram.bin_width(), most = std::max(std::fabs(histogram.min()), std::fabs(histogram.max()));
  if (most == 0) return {0, 0};
  const size_t last = std::min(counts.size(), static_cast<size_t>(most / width) + 1);
  const Divergence divergence(counts);
  double best = std::numeric_limits<double>::infinity();
  size_t best_bins = last;
  for (size_t n = last; n >= groups; --n) {
    const double d = divergence.of(n, groups);
    if (d < best) best = d, best_bins = n;
  }
  const double threshold = width * static_cast<double>(best_bins);
  return {std::max(histogram.min(), -threshold), std::min(histogram.max(), threshold)};
}

}  // namespace mlopt
