#include "core/measure/ratio.h"

#include "core/base/rng.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// Blocks of three runs that take `seconds`, times what the machine does to block b.
std::vector<Block> blocks(double seconds, const std::vector<double>& drift) {
  std::vector<Block> all;
  for (const double d : drift)
    all.push_back({.seconds = {seconds * d, seconds * d, seconds * d * 5}, .elapsed = 7 * seconds * d});
  return all;
}

std::string words(double median, double low, double high, size_t count = 20) {
  return in_words({.median = median, .low = low, .high = high, .blocks = count});
}

}  // namespace

TEST_CASE("drift that meets both candidates cancels") {
  const std::vector<double> drift = {1, 2, 1.5, 3, 1.2, 0.7};
  const Ratio ratio = speed_ratio(blocks(0.03, drift), blocks(0.02, drift), 1);
  CHECK(ratio.median == Approx(1.5));
  CHECK(ratio.low == Approx(1.5));
  CHECK(ratio.high == Approx(1.5));
  CHECK(ratio.blocks == 6);
  CHECK(ratio.faster());
}

TEST_CASE("the interval covers the true ratio about as often as it says") {
  Rng rng(7);
  int covered = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 20; ++i) a.push_back(rng.uniform(0.9, 1.1)), b.push_back(rng.uniform(0.9, 1.1));
    const Ratio ratio = speed_ratio(blocks(2, a), blocks(1, b), 3);
    covered += ratio.low <= 2 && 2 <= ratio.high ? 1 : 0;
    CHECK(ratio.high - ratio.low > 0.01);
  }
  CHECK(covered >= 180);
  CHECK(covered < 200);
}

TEST_CASE("a ratio in words") {
  CHECK(words(1.43, 1.38, 1.49) == "1.43x faster (1.38 to 1.49)");
  CHECK(words(0.8, 0.78, 0.82) == "1.25x slower (1.22 to 1.28)");
  CHECK(words(1.01, 0.99, 1.02) == "as fast (0.99 to 1.02)");
  CHECK(words(0.998, 0.991, 0.999) == "as fast (0.99 to 1.00)");
  CHECK(words(1.003, 1.001, 1.012) == "as fast (1.00 to 1.01)");
  CHECK(words(1.1, 0.71, 1.6) == "inconclusive (0.71 to 1.60)");
  CHECK(words(1.43, 1.38, 1.49, 2) == "inconclusive (too few runs)");
  CHECK(speed_ratio({}, {}, 0).inconclusive());
}

}  // namespace mlopt
