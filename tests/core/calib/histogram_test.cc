#include "core/calib/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/rng.h"
#include "tests/core/calib/numbers.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

std::vector<float> normal(int n, double scale, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(rng.normal() * scale));
  return x;
}

std::vector<float> joined(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int64_t sum(const Histogram& h) { return std::accumulate(h.bins().begin(), h.bins().end(), int64_t{0}); }

void require_equal(const Histogram& a, const Histogram& b) {
  REQUIRE(a.count() == b.count());
  REQUIRE(a.zeros() == b.zeros());
  REQUIRE(a.nonfinite() == b.nonfinite());
  REQUIRE(a.reach() == b.reach());
  REQUIRE(a.min() == b.min());
  REQUIRE(a.max() == b.max());
  REQUIRE(a.bins() == b.bins());
}

}  // namespace

TEST_CASE("a histogram counts what it sees in bins of equal width") {
  const auto x = normal(5000, 3, 1);
  const Histogram h = test::histogram_of(x);
  REQUIRE(h.count() == 5000);
  REQUIRE(h.min() == *std::min_element(x.begin(), x.end()));
  REQUIRE(h.max() == *std::max_element(x.begin(), x.end()));
  const double most = std::max(-h.min(), h.max());
  REQUIRE(h.reach() >= most);
  REQUIRE(h.reach() < 2 * most);
  std::vector<int64_t> expected(Histogram::kBins);
  for (const float v : x) ++expected[static_cast<size_t>(std::floor((v + h.reach()) / h.bin_width()))];
  REQUIRE(h.bins() == expected);
}

TEST_CASE("the largest number lies in the last bin when it is a power of two") {
  const Histogram h = test::histogram_of({4.0f, -4.0f, 1.0f});
  REQUIRE(h.reach() == 4);
  REQUIRE(h.bins().front() == 1);
  REQUIRE(h.bins().back() == 1);
  REQUIRE(sum(h) == 3);
}

TEST_CASE("the order of a stream does not matter when the reach doubles") {
  const auto small = normal(3000, 1e-3, 2), large = normal(3000, 50, 3);
  Histogram growing = test::histogram_of(small), shrinking = test::histogram_of(large);
  growing.see(test::row(large));
  shrinking.see(test::row(small));
  require_equal(growing, test::histogram_of(joined(small, large)));
  require_equal(shrinking, growing);
  REQUIRE(sum(growing) == 6000);
}

TEST_CASE("merged histograms are that of both streams") {
  const auto small = normal(3000, 1e-3, 2), large = normal(3000, 50, 3);
  const Histogram both = test::histogram_of(joined(small, large));
  for (const bool swapped : {false, true}) {
    Histogram h = test::histogram_of(swapped ? large : small);
    h.merge(test::histogram_of(swapped ? small : large));
    require_equal(h, both);
  }
  Histogram from_nothing;
  from_nothing.merge(both);
  require_equal(from_nothing, both);
  Histogram unchanged = both;
  unchanged.merge(Histogram());
  require_equal(unchanged, both);
}

TEST_CASE("quantiles are those of the sorted numbers, within a bin") {
  auto x = normal(20000, 2, 4);
  const Histogram h = test::histogram_of(x);
  std::sort(x.begin(), x.end());
  for (const double q : {0.001, 0.01, 0.25, 0.5, 0.9, 0.999}) {
    const auto place = static_cast<size_t>(q * static_cast<double>(x.size()));
    INFO(q);
    CHECK(h.quantile(q) >= x[place - 1] - h.bin_width());
    CHECK(h.quantile(q) <= x[place + 1] + h.bin_width());
  }
  REQUIRE(h.quantile(0) == h.min());
  REQUIRE(h.quantile(1) == h.max());
}

TEST_CASE("NaN and infinities are counted apart") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Histogram h = test::histogram_of({1, nan, -2, inf, -inf, 0});
  REQUIRE(h.count() == 3);
  REQUIRE(h.zeros() == 1);
  REQUIRE(h.nonfinite() == 3);
  REQUIRE(h.min() == -2);
  REQUIRE(h.max() == 1);
  Histogram nothing = test::histogram_of({nan, inf});
  REQUIRE(nothing.count() == 0);
  REQUIRE(nothing.min() == 0);
  REQUIRE(nothing.quantile(0.5) == 0);
  nothing.see(test::row({0.5f}));
  REQUIRE(nothing.min() == 0.5);
}

TEST_CASE("tensors without elements, of zeros, of tiny and of huge numbers are seen") {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  Histogram h = test::histogram_of({});
  REQUIRE(h.count() == 0);
  h.see(Tensor::zeros(DType::kF32, {7}));
  REQUIRE(h.zeros() == 7);
  REQUIRE(h.bins()[Histogram::kBins / 2] == 7);
  REQUIRE(h.max() == 0);
  h.see(test::row({tiny, -tiny}));
  h.see(test::row({huge, -huge}));
  REQUIRE(h.count() == 11);
  REQUIRE(sum(h) == 11);
  REQUIRE(h.max() == static_cast<double>(huge));
  REQUIRE(h.quantile(1) == static_cast<double>(huge));
}

TEST_CASE("other number types are seen as numbers") {
  Histogram h;
  h.see(test::tensor({3}, {-3, 0, 2}, DType::kI8));
  h.see(test::tensor({2}, {0.5, -7}, DType::kF16));
  REQUIRE(h.count() == 5);
  REQUIRE(h.min() == -7);
  REQUIRE(h.max() == 2);
}

}  // namespace mlopt
