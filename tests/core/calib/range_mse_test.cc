#include <cmath>

#include "core/base/rng.h"
#include "core/calib/range.h"
#include "tests/core/calib/numbers.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// What rounding the numbers themselves to the grid of a range costs.
double squared_error(const std::vector<float>& x, Range range, int levels) {
  const double step = (range.max - range.min) / (levels - 1), low = std::nearbyint(range.min / step);
  double sum = 0;
  for (const float v : x) {
    const double code = std::clamp(std::nearbyint(v / step), low, low + levels - 1);
    sum += (v - code * step) * (v - code * step);
  }
  return sum / static_cast<double>(x.size());
}

/// Mostly small numbers, and one in a thousand that is twenty times larger.
std::vector<float> with_outliers(int n, bool one_sided) {
  Rng rng(5);
  std::vector<float> x;
  for (int i = 0; i < n; ++i) {
    const auto v = static_cast<float>(rng.normal() * (i % 1000 == 0 ? 20 : 1));
    x.push_back(one_sided ? std::fabs(v) : v);
  }
  return x;
}

}  // namespace

TEST_CASE("the mse range costs no more than any range of a search over the numbers") {
  for (const bool one_sided : {false, true})
    for (const int levels : {256, 16}) {
      const auto x = with_outliers(20000, one_sided);
      const Histogram h = test::histogram_of(x);
      const Range range = mse_range(h, levels);
      double least = squared_error(x, {std::min(0.0, h.min()), h.max()}, levels);
      for (int a = 1; a <= 40; ++a)
        for (int b = 1; b <= 40; ++b)
          least = std::min(least, squared_error(x, {std::min(0.0, h.min()) * a / 40, h.max() * b / 40}, levels));
      INFO(range.min << " to " << range.max << " of " << h.min() << " to " << h.max() << ", " << levels << " levels");
      CHECK(squared_error(x, range, levels) <= 1.05 * least);
      CHECK(range.max <= h.max());
      CHECK(range.min >= std::min(0.0, h.min()));
    }
}

TEST_CASE("what is uniform over its range keeps it") {
  Rng rng(6);
  std::vector<float> x;
  for (int i = 0; i < 20000; ++i) x.push_back(static_cast<float>(rng.uniform(-1, 3)));
  const Range range = mse_range(test::histogram_of(x), 256);
  CHECK(range.min == Approx(-1).margin(0.03));
  CHECK(range.max == Approx(3).margin(0.03));
}

TEST_CASE("exact zeros do not change the mse range") {
  std::vector<float> x = with_outliers(20000, true);
  const Range without = mse_range(test::histogram_of(x), 256);
  x.insert(x.end(), 100000, 0.0f);
  const Range with = mse_range(test::histogram_of(x), 256);
  CHECK(with.max == without.max);
}

}  // namespace mlopt
