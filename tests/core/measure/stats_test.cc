#include "core/measure/stats.h"

#include "tests/support/catch.h"

namespace mlopt {

TEST_CASE("quantiles are interpolated as NumPy does") {
  // numpy.quantile([1, 2, 4, 8], [0, .5, .9, 1])
  const std::vector<double> values = {1, 2, 4, 8};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 0.5) == 3);
  CHECK(quantile(values, 0.9) == Approx(6.8));
  CHECK(quantile(values, 1) == 8);
  CHECK(quantile({}, 0.5) == 0);
  CHECK(median({9, 1, 5}) == 5);
}

TEST_CASE("the interval of a median") {
  const Estimate found = bootstrap_median({1, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
  CHECK(found.median == 5);
  CHECK(found.low >= 2);
  CHECK(found.low < 5);
  CHECK(found.high > 5);
  CHECK(found.high <= 8);
  CHECK(bootstrap_median({3}, 1).low == 3);
  CHECK(bootstrap_median({}, 1).high == 0);
}

TEST_CASE("a latency distribution is in milliseconds") {
  const Latency latency = summarize({0.004, 0.001, 0.002, 0.008});
  CHECK(latency.min == Approx(1));
  CHECK(latency.mean == Approx(3.75));
  CHECK(latency.p50 == Approx(3));
  CHECK(latency.p90 == Approx(6.8));
  CHECK(latency.p99 == Approx(7.88));
  CHECK(latency.runs == 4);
  CHECK(summarize({}).runs == 0);
}

}  // namespace mlopt
