#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/calib/range.h"

namespace mlopt {
namespace {

/// Kullback-Leibler divergence of P (the first n bins, what lies beyond added to the last) from Q (the first n bins
/// averaged over `levels` groups, empty bins staying empty). Both are normalized.
double divergence(const std::vector<double>& counts, size_t n, double beyond, size_t levels) {
  const double inside = std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), 0.0);
  const double total = inside + beyond;
  if (inside <= 0) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (size_t group = 0; group < levels; ++group) {
    const size_t begin = group * n / levels, end = (group + 1) * n / levels;
    double mass = 0;
    size_t filled = 0;
    for (size_t i = begin; i < end; ++i) mass += counts[i], filled += counts[i] > 0;
    for (size_t i = begin; i < end; ++i) {
      const double p = (counts[i] + (i + 1 == n ? beyond : 0)) / total;
      if (p <= 0) continue;
      // The last bin may hold only what was clipped: Q gives it the smallest mass rather than none.
      const double q = std::max(counts[i] > 0 ? mass / static_cast<double>(filled) / inside : 0.0, 1e-10);
      sum += p * std::log(p / q);
    }
  }
  return sum;
}

}  // namespace

Range entropy_range(const Histogram& histogram, int levels) {
  const std::vector<double> counts = histogram.folded();
  const bool one_sided = histogram.min() >= 0 || histogram.max() <= 0;
  const auto groups = static_cast<size_t>(one_sided ? levels : levels / 2);
  const double width = histogram.bin_width(), most = std::max(std::fabs(histogram.min()), std::fabs(histogram.max()));
  const auto last = std::min(counts.size(), static_cast<size_t>(std::ceil(most / std::max(width, 1e-300))));
  if (last <= groups) return minmax_range(histogram);
  double beyond = std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(last), counts.end(), 0.0);
  double best = std::numeric_limits<double>::infinity();
  size_t best_bins = last;
  // Finer steps than a sixteenth of a level do not change the result by more than rounding does.
  const size_t step = std::max<size_t>(1, last / (16 * groups));
  for (size_t n = last; n >= groups; n -= std::min(step, n)) {
    const double d = divergence(counts, n, beyond, groups);
    if (d < best) best = d, best_bins = n;
    if (n < groups + step) break;
    for (size_t i = n - step; i < n; ++i) beyond += counts[i];
  }
  const double threshold = width * static_cast<double>(best_bins);
  return {std::max(histogram.min(), -threshold), std::min(histogram.max(), threshold)};
}

}  // namespace mlopt
