#include <algorithm>
#include <cmath>

#include "core/calib/range.h"

namespace mlopt {
namespace {

/// Expected squared error of `levels` levels over [low, high]: step^2 / 12 inside, the squared distance outside.
double expected_error(const Histogram& histogram, double low, double high, int levels) {
  const double step = (high - low) / (levels - 1);
  const double width = histogram.bin_width();
  double error = 0;
  for (size_t i = 0; i < histogram.bins().size(); ++i) {
    const auto count = static_cast<double>(histogram.bins()[i]);
    if (count == 0) continue;
    const double x =
        std::clamp(-histogram.reach() + (static_cast<double>(i) + 0.5) * width, histogram.min(), histogram.max());
    const double clipped = x - std::clamp(x, low, high);
    // An exact zero has no error: zero is always a level.
    const bool at_zero = std::fabs(x) < width;
    error += count * (clipped != 0 ? clipped * clipped : at_zero ? 0 : step * step / 12);
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
