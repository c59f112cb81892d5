#include "core/calib/histogram.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/base/parallel.h"
#include "core/calib/counting.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

/// The smallest power of two that is at least `magnitude`: reaches of any two histograms differ by doublings only.
double reach_for(double magnitude) {
  int exponent = 0;
  const double fraction = std::frexp(std::max(magnitude, 1e-30), &exponent);
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

constexpr int64_t kGrain = 1 << 16;  // numbers below which a second thread costs more than it brings

Limits limits_on_threads(std::span<const float> numbers) {
  Limits all;
  std::mutex joining;
  parallel_for(std::ssize(numbers), kGrain, [&](int64_t begin, int64_t end) {
    const Limits part = limits_of(numbers.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    const std::lock_guard lock(joining);
    all.add(part);
  });
  return all;
}

/// Small tensors, of which a model may have many, are counted where they belong at once.
void count_few(std::span<const float> numbers, float inverse, std::vector<int64_t>& bins) {
  for (const float x : numbers)
    if (std::isfinite(x)) ++bins[static_cast<size_t>(bin_of(x, inverse, static_cast<int>(bins.size())))];
}

/// `inverse` is a power of two, so that a number's bin is exact.
void count_into(std::vector<int64_t>& bins, std::span<const float> numbers, float inverse) {
  if (std::ssize(numbers) <= kGrain) return count_few(numbers, inverse, bins);
  const size_t table = bins.size() + 1;
  std::mutex joining;
  parallel_for(std::ssize(numbers), kGrain, [&](int64_t begin, int64_t end) {
    std::vector<uint32_t> part(kBinTables * table);
    count_bins(numbers.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), inverse,
               static_cast<int>(bins.size()), part);
    const std::lock_guard lock(joining);
    for (size_t k = 0; k < kBinTables; ++k)
      for (size_t bin = 0; bin < bins.size(); ++bin) bins[bin] += part[k * table + bin];
  });
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

void Histogram::see(const Tensor& tensor, bool in_bins) {
  const bool as_it_is = tensor.dtype() == DType::kF32;
  const Tensor floats = as_it_is ? tensor.aligned() : Tensor();
  const std::vector<float> converted = as_it_is ? std::vector<float>() : to_floats(tensor);
  const auto numbers = as_it_is ? std::span(floats.data<float>(), static_cast<size_t>(floats.size()))
                                : std::span<const float>(converted);
  const Limits seen = limits_on_threads(numbers);
  nonfinite_ += std::ssize(numbers) - seen.finite;
  if (!seen.finite) return;
  min_ = count_ ? std::min<double>(min_, seen.low) : seen.low;
  max_ = count_ ? std::max<double>(max_, seen.high) : seen.high;
  count_ += seen.finite;
  zeros_ += seen.zeros;
  grow(std::max(std::fabs(min_), std::fabs(max_)));
  if (in_bins) count_into(bins_, numbers, static_cast<float>(kBins / (2 * reach_)));
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
