#include <algorithm>
#include <cmath>
#include <limits>

#include "core/calib/range.h"

namespace mlopt {
namespace {

/// Bins [begin, end) of a histogram.
struct Span {
  size_t begin, end;
};

/// Kullback-Leibler divergences of a distribution clipped to a span of its bins (what lies beyond falls into the first
/// and the last of them) from the same bins, without what lies beyond, averaged over groups. Empty bins stay empty.
/// Sums over a span are differences of running sums, so that each costs as many steps as there are groups.
class Divergence {
 public:
  explicit Divergence(std::vector<double> counts) : counts_(std::move(counts)) {
    for (const double c : counts_) total_ += c;
    for (const double c : counts_) {
      mass_.push_back(mass_.back() + c);
      filled_.push_back(filled_.back() + (c > 0));
      entropy_.push_back(entropy_.back() + term(c));
    }
  }

  double filled(Span span) const { return filled_[span.end] - filled_[span.begin]; }

  double of(Span span, size_t groups) const {
    const auto [begin, end] = span;
    const double inside = mass_[end] - mass_[begin];
    double cross = 0;  // sum of p log q
    std::vector<double> q(groups);
    for (size_t group = 0; group < groups; ++group) {
      const Span part = {begin + group * (end - begin) / groups, begin + (group + 1) * (end - begin) / groups};
      const double mass = mass_[part.end] - mass_[part.begin];
      if (mass <= 0) continue;
      q[group] = mass / filled(part) / inside;
      cross += mass / total_ * std::log(q[group]);
    }
    double own = entropy_[end] - entropy_[begin];  // sum of p log p
    const auto clip = [&](size_t bin, double beyond, double q_of_bin) {
      if (beyond <= 0) return;
      // An empty bin at the edge holds only what was clipped: Q gives it the smallest mass rather than none.
      cross += beyond / total_ * std::log(counts_[bin] > 0 ? q_of_bin : 1e-10);
      own += term(counts_[bin] + beyond) - term(counts_[bin]);
    };
    clip(begin, mass_[begin], q.front());
    clip(end - 1, total_ - mass_[end], q.back());
    return own - cross;
  }

 private:
  double term(double count) const { return count > 0 ? count / total_ * std::log(count / total_) : 0; }

  std::vector<double> counts_;
  double total_ = 0;
  std::vector<double> mass_ = {0}, filled_ = {0}, entropy_ = {0};  // of the bins before i
};

}  // namespace

Range entropy_range(const Histogram& histogram, int levels) {
  constexpr size_t kZero = Histogram::kBins / 2;
  std::vector<double> counts(histogram.bins().begin(), histogram.bins().end());
  counts[kZero] -= static_cast<double>(histogram.zeros());
  const double width = histogram.bin_width();
  const auto bins_to = [&](double x) {
    return x <= 0 ? size_t{0} : std::min(kZero, static_cast<size_t>(x / width) + 1);
  };
  const size_t below = bins_to(-histogram.min()), above = bins_to(histogram.max());
  const Divergence divergence(std::move(counts));
  const auto groups = static_cast<size_t>(levels);
  const size_t most = std::max(below, above);
  double best = std::numeric_limits<double>::infinity();
  size_t best_bins = most;
  for (size_t n = most; n > 0; --n) {
    const Span span = {kZero - std::min(n, below), kZero + std::min(n, above)};
    // With a level for every filled bin nothing is left to gain from a smaller range.
    if (divergence.filled(span) < static_cast<double>(levels)) break;
    const double d = divergence.of(span, groups);
    if (d < best) best = d, best_bins = n;
  }
  const double threshold = width * static_cast<double>(best_bins);
  return {std::max(histogram.min(), -threshold), std::min(histogram.max(), threshold)};
}

}  // namespace mlopt
