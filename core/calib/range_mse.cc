#include <algorithm>
#include <cmath>

#include "core/calib/range.h"

namespace mlopt {
namespace {

/// Expected squared error of rounding to `levels` levels over [low, high], zero among them, and of clipping to it. Each
/// bin errs as its centre does, and within itself as its width does.
double expected_error(const Histogram& histogram, double low, double high, int levels) {
  const double step = (high - low) / (levels - 1), width = histogram.bin_width();
  const auto& bins = histogram.bins();
  double error = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    const int64_t count = bins[i] - (i == bins.size() / 2 ? histogram.zeros() : 0);
    if (count == 0) continue;
    const double centre = -histogram.reach() + (static_cast<double>(i) + 0.5) * width;
    const double x = std::clamp(centre, histogram.min(), histogram.max());
    const double rounded = std::clamp(std::nearbyint(x / step) * step, low, high);
    error += static_cast<double>(count) * ((x - rounded) * (x - rounded) + width * width / 12);
  }
  return error;
}

}  // namespace

Range mse_range(const Histogram& histogram, int levels) {
  const double low = std::min(0.0, histogram.min()), high = std::max(0.0, histogram.max());
  Range best{low, high};
  double least = expected_error(histogram, low, high, levels);
  const auto attempt = [&](double a, double b) {
    if (!(b - a > 0)) return;
    const double error = expected_error(histogram, a, b, levels);
    if (error < least) least = error, best = {a, b};
  };
  // Both ends together, then each end by itself around the best.
  for (int percent = 99; percent >= 20; --percent) attempt(low * percent / 100, high * percent / 100);
  for (int round = 0; round < 2; ++round) {
    const Range at = best;
    for (int percent = 120; percent >= 50; --percent) attempt(std::max(low, at.min * percent / 100), best.max);
    for (int percent = 120; percent >= 50; --percent) attempt(best.min, std::min(high, at.max * percent / 100));
  }
  return best;
}

}  // namespace mlopt
