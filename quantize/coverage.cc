#include "quantize/coverage.h"

#include <algorithm>

namespace mlopt::quantize {
namespace {

/// Of what was seen, below the limit; within a bin numbers are taken to lie evenly.
double count_below(const Histogram& seen, double limit) {
  double count = 0;
  for (int b = 0; b < Histogram::kBins; ++b) {
    const double from = -seen.reach() + b * seen.bin_width();
    const double share = std::clamp((limit - from) / seen.bin_width(), 0.0, 1.0);
    count += share * static_cast<double>(seen.bins()[static_cast<size_t>(b)]);
  }
  return count;
}

}  // namespace

Coverage coverage_of(const Histogram& seen, const Grid& grid) {
  const auto scale = static_cast<double>(grid.scale);
  const auto value = [&](double code) { return (code - grid.zero_point) * scale; };
  Coverage coverage{value(grid.low), value(grid.high), 0};
  if (seen.count() == 0 || seen.reach() <= 0) return coverage;
  const double low = value(grid.low - 0.5), high = value(grid.high + 0.5);
  double outside = 0;
  if (seen.min() < low) outside += count_below(seen, low);
  if (seen.max() > high) outside += static_cast<double>(seen.count()) - count_below(seen, high);
  coverage.clipped = std::clamp(outside / static_cast<double>(seen.count()), 0.0, 1.0);
  return coverage;
}

}  // namespace mlopt::quantize
