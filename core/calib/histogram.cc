#include "core/calib/histogram.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

/// The smallest power of two that is at least `magnitude`: reaches of any two histograms differ by doublings only.
double reach_for(double magnitude) {
  int exponent = 0;
  const double fraction = std::frexp(std::max(magnitude, 1e-30), &exponent);
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

}  // namespace

Histogram::Histogram(std::span<const double> limits, std::span<const int64_t> counts)
    : bins_(counts.begin() + (kCounts - kBins), counts.end()),
      reach_(limits[0]),
      min_(limits[1]),
      max_(limits[2]),
      count_(counts[0]),
      zeros_(counts[1]),
      nonfinite_(counts[2]) {}

std::vector<int64_t> Histogram::counts() const {
  std::vector<int64_t> all = {count_, zeros_, nonfinite_};
  all.insert(all.end(), bins_.begin(), bins_.end());
  return all;
}

void Histogram::grow(double magnitude) {
  if (reach_ == 0) {
    reach_ = reach_for(magnitude);
    return;
  }
  while (reach_ < magnitude) {
    std::vector<int64_t> wider(kBins);
    for (size_t i = 0; i < bins_.size(); ++i) wider[kBins / 4 + i / 2] += bins_[i];
    bins_ = std::move(wider);
    reach_ *= 2;
  }
}

void Histogram::see(const Tensor& tensor) {
  const std::vector<float> numbers = to_floats(tensor);
  double low = count_ ? min_ : INFINITY, high = count_ ? max_ : -INFINITY;
  int64_t finite = 0, zeros = 0;
  for (const float x : numbers) {
    if (!std::isfinite(x)) continue;
    low = std::min<double>(low, x);
    high = std::max<double>(high, x);
    ++finite;
    zeros += x == 0;
  }
  nonfinite_ += static_cast<int64_t>(numbers.size()) - finite;
  if (!finite) return;
  min_ = low, max_ = high, count_ += finite, zeros_ += zeros;
  grow(std::max(std::fabs(low), std::fabs(high)));
  const double inverse = kBins / (2 * reach_);
  for (const float x : numbers)
    if (std::isfinite(x))
      ++bins_[static_cast<size_t>(std::min<int64_t>(kBins - 1, static_cast<int64_t>((x + reach_) * inverse)))];
}

void Histogram::merge(const Histogram& other) {
  nonfinite_ += other.nonfinite_;
  if (!other.count_) return;
  Histogram theirs = other;
  if (count_) {
    grow(theirs.reach_);
    theirs.grow(reach_);
  } else {
    reach_ = theirs.reach_;
  }
  min_ = count_ ? std::min(min_, theirs.min_) : theirs.min_;
  max_ = count_ ? std::max(max_, theirs.max_) : theirs.max_;
  count_ += theirs.count_;
  zeros_ += theirs.zeros_;
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += theirs.bins_[i];
}

double Histogram::quantile(double q) const {
  const double wanted = q * static_cast<double>(count_);
  double below = 0;
  for (size_t i = 0; i < bins_.size(); ++i) {
    const auto here = static_cast<double>(bins_[i]);
    if (below + here >= wanted && here > 0) {
      const double x = -reach_ + (static_cast<double>(i) + (wanted - below) / here) * bin_width();
      return std::clamp(x, min_, max_);
    }
    below += here;
  }
  return max_;
}

}  // namespace mlopt
