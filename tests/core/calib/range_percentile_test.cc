#include "core/calib/range.h"
#include "tests/core/calib/numbers.h"
#include "tests/support/catch.h"

namespace mlopt {

// The expected limits are numpy.percentile's of the same 100000 numbers, which lie 0.02 apart there.

TEST_CASE("a percentile cuts half of the rest on each side") {
  const Histogram h = test::histogram_of(test::laplace(100000));
  const Range range = percentile_range(h, 99.9);
  CHECK(range.min == Approx(-6.89781).margin(0.02));
  CHECK(range.max == Approx(6.89781).margin(0.02));
}

TEST_CASE("a percentile of numbers of one sign cuts at their far end only") {
  std::vector<float> x = test::laplace(100000);
  for (float& v : x) v = std::fabs(v);
  const Histogram up = test::histogram_of(x);
  CHECK(percentile_range(up, 99.9).min == 0);
  CHECK(percentile_range(up, 99.9).max == Approx(6.89782).margin(0.02));
  for (float& v : x) v = -v;
  const Histogram down = test::histogram_of(x);
  CHECK(percentile_range(down, 99.9).min == Approx(-6.89782).margin(0.02));
  CHECK(percentile_range(down, 99.9).max == 0);
}

TEST_CASE("a percentile of 100 is all of it") {
  const Histogram h = test::histogram_of(test::laplace(1000));
  CHECK(percentile_range(h, 100).min == h.min());
  CHECK(percentile_range(h, 100).max == h.max());
}

}  // namespace mlopt
