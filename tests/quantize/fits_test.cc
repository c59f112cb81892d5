#include "quantize/fits.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/rng.h"
#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

std::vector<float> normal(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& x : values) x = static_cast<float>(rng.normal());
  return values;
}

double plain_error(const Alphabet& a, std::span<const float> values, std::span<const float> weights = {}) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double off = static_cast<double>(a.value(a.nearest(values[i]))) - static_cast<double>(values[i]);
    sum += off * off * (weights.empty() ? 1 : static_cast<double>(weights[i]));
  }
  return sum;
}

/// The least squared error of any `clusters` values: all ways to cut the sorted numbers.
double best_of_all(std::vector<std::pair<float, float>> points, size_t clusters) {
  std::sort(points.begin(), points.end());
  const std::function<double(size_t, size_t)> from = [&](size_t first, size_t left) -> double {
    if (first == points.size()) return 0;
    if (left == 0) return std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity(), w = 0, x = 0, xx = 0;
    for (size_t end = first + 1; end <= points.size(); ++end) {
      const auto value = static_cast<double>(points[end - 1].first),
                 weight = static_cast<double>(points[end - 1].second);
      w += weight, x += weight * value, xx += weight * value * value;
      least = std::min(least, xx - x * x / w + from(end, left - 1));
    }
    return least;
  };
  return from(0, clusters);
}

}  // namespace

TEST_CASE("the whole range is reached, with zero exactly") {
  Scheme scheme;
  const std::vector<float> values = {-0.3f, 0.1f, 0.7f, 1.2f};
  const Alphabet a = fit_minmax({scheme, values, {}, {}});
  CHECK(a.scale == Approx(1.5f / 15));
  CHECK(a.zero == 3);
  CHECK(a.value(a.nearest(0)) == 0);
  scheme.symmetric = true;
  const Alphabet s = fit_minmax({scheme, values, {}, {}});
  CHECK(s.zero == 8);
  CHECK(s.value(15) == Approx(1.2f));
  const std::vector<float> positive = {2, 3};
  CHECK(fit_minmax({Scheme(), positive, {}, {}}).zero == 0);
}

TEST_CASE("constant, empty and infinite groups get a scale that is normal") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> groups = {{0, 0, 0}, {}, {inf, -inf, std::nanf("")}, {1e-44f, 0}, {5, 5}};
  for (const Fit fit : {fit_minmax, fit_mse, fit_hqq})
    for (const bool symmetric : {false, true})
      for (const auto& values : groups) {
        Scheme scheme;
        scheme.symmetric = symmetric;
        const Alphabet a = fit({scheme, values, {}, {}});
        CHECK(std::isnormal(a.scale));
        CHECK(a.scale > 0);
        CHECK(a.zero <= a.most);
        if (values.size() == 2 && values[0] == 5) CHECK(a.value(a.nearest(5)) == Approx(5));
      }
}

TEST_CASE("a fit never costs more than the whole range by its own measure") {
  int better = 0;
  for (const int bits : {2, 3, 4, 8})
    for (const bool symmetric : {false, true})
      for (uint64_t seed = 0; seed < 20; ++seed) {
        Scheme scheme;
        scheme.bits = bits;
        scheme.symmetric = symmetric;
        std::vector<float> values = normal(64, seed);
        values[3] *= 5;  // an outlier, which is worth being clipped
        const Group group{scheme, values, {}, {}, seed % 2 ? kRectifiedShift : 0};
        const double whole = squared_error(group, fit_minmax(group));
        CHECK(squared_error(group, fit_mse(group)) <= whole);
        CHECK(squared_error(group, fit_hqq(group)) <= whole);
        better += bits == 3 && squared_error(group, fit_mse(group)) < whole;
      }
  CHECK(better > 20);  // of 40
}

TEST_CASE("the cost of inputs that have a mean counts the errors' sum") {
  Scheme scheme;
  const std::vector<float> values = {0.4f, 0.4f, 0.4f, 0.4f};
  const Alphabet a{1, 0, {}, 15};  // all become 0
  const double none = squared_error({scheme, values, {}, {}}, a);
  const double shifted = squared_error({scheme, values, {}, {}, 0.5}, a);
  CHECK(shifted - none == Approx(0.5 * 0.4 * 1.6 * 1.6).epsilon(1e-5));
}

TEST_CASE("important numbers are hit, others clipped") {
  Scheme scheme;
  scheme.bits = 2;
  const std::vector<float> values = {0.1f, 0.2f, -0.1f, 0.5f}, important = {100, 100, 100, 1e-6f};
  const Alphabet a = fit_mse({scheme, values, important, {}});
  const Alphabet whole = fit_minmax({scheme, values, important, {}});
  CHECK(plain_error(a, values, important) < 0.8 * plain_error(whole, values, important));
}

TEST_CASE("codebooks of few numbers are the optimum over all ways to cut them") {
  Rng rng(7);
  for (int i = 0; i < 30; ++i) {
    Scheme scheme;
    scheme.levels = Levels::kCodebook;
    scheme.bits = 2;
    const std::vector<float> values = normal(11, static_cast<uint64_t>(i));
    std::vector<float> weights(values.size());
    for (float& w : weights) w = static_cast<float>(rng.uniform(0.1, 3));
    std::vector<float> book(4);
    const Alphabet a = fit_codebook({scheme, values, weights, book});
    CHECK(std::is_sorted(book.begin(), book.end()));
    std::vector<std::pair<float, float>> points;
    for (size_t k = 0; k < values.size(); ++k) points.emplace_back(values[k], weights[k]);
    CHECK(plain_error(a, values, weights) == Approx(best_of_all(points, 4)).margin(1e-6));
  }
}

TEST_CASE("codebooks of many numbers come near the optimal quantizer of their distribution") {
  Scheme scheme;
  scheme.levels = Levels::kCodebook;
  scheme.bits = 3;
  const std::vector<float> values = normal(20000, 1);
  std::vector<float> book(8);
  const Alphabet a = fit_codebook({scheme, values, {}, book});
  // Max (1960), "Quantizing for Minimum Distortion", table I: 8 levels of a unit normal.
  CHECK(plain_error(a, values) / 20000 == Approx(0.03454).epsilon(0.03));
}

TEST_CASE("codebooks keep the zeros of pruned weights, and fewer numbers than codes") {
  Scheme scheme;
  scheme.levels = Levels::kCodebook;
  std::vector<float> values = normal(200, 3), book(16);
  for (size_t i = 0; i < 100; ++i) values[2 * i] = 0;
  const Alphabet a = fit_codebook({scheme, values, {}, book});
  CHECK(a.value(a.nearest(0)) == 0);
  std::vector<float> one = normal(200, 4);
  one[17] = 0;
  const Alphabet c = fit_codebook({scheme, one, {}, book});
  CHECK(c.value(c.nearest(0)) == 0);
  const std::vector<float> few = {3, -1, 3};
  const Alphabet b = fit_codebook({scheme, few, {}, book});
  CHECK(plain_error(b, few) == 0);
}

TEST_CASE("three values have the scale and the threshold of the least squared error") {
  Scheme scheme;
  scheme.levels = Levels::kTable;
  scheme.bits = 2;
  scheme.table = {-1, 0, 1, 1};
  for (const bool weighted : {false, true}) {
    std::vector<float> values = normal(40, weighted ? 7 : 8), weights;
    if (weighted)
      for (const float x : normal(40, 9)) weights.push_back(std::fabs(x));
    const Alphabet a = fit_ternary({scheme, values, weights, {}});
    double least = std::numeric_limits<double>::infinity();
    for (int i = 1; i < 4000; ++i) {
      const Alphabet tried = {static_cast<float>(i) * 1e-3f, 0, scheme.table, 3};
      least = std::min(least, plain_error(tried, values, weights));
    }
    CHECK(plain_error(a, values, weights) <= least);
  }
  const std::vector<float> odd = {0, std::numeric_limits<float>::infinity(), std::nanf("")};
  CHECK(std::isnormal(fit_ternary({scheme, odd, {}, {}}).scale));
}

TEST_CASE("signs stand for the mean magnitude, and those of zeros for next to nothing") {
  Scheme scheme;
  scheme.levels = Levels::kTable;
  scheme.bits = 1;
  scheme.table = {-1, 1};
  const std::vector<float> values = {0.5f, -1.5f, 0, 4}, zeros(5);
  CHECK(fit_minmax({scheme, values, {}, {}}).scale == 1.5f);
  for (const Fit fit : {fit_minmax, fit_mse, fit_hqq}) CHECK(fit({scheme, zeros, {}, {}}).scale == FLT_MIN);
}

TEST_CASE("errors count by the squares of inputs, those that were not seen a little, and all alike where none was") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(importance(std::vector<double>{3, 1, 0, 4}) == std::vector<float>{1.5f, 0.5f, 1e-4f, 2});
  CHECK(importance(std::vector<double>{1e-40, 3e-40}) == std::vector<float>{0.5f, 1.5f});
  CHECK(importance(std::vector<double>{0, 0}) == std::vector<float>{1, 1});
  CHECK(importance(std::vector<double>{inf, 1}) == std::vector<float>{1, 1});
}

TEST_CASE("few bits are not spent on a few large numbers") {
  for (const int bits : {2, 3})
    for (const size_t count : {1024, 4096}) {
      Scheme scheme;
      scheme.bits = bits;
      scheme.symmetric = true;
      std::vector<float> values = normal(count, 5);
      values[3] = 12;
      const Group group{scheme, values, {}, {}};
      const Alphabet whole = fit_minmax(group);
      double least = std::numeric_limits<double>::infinity();
      for (int i = 5; i <= 100; ++i) {
        Alphabet tried = whole;
        tried.scale *= static_cast<float>(i) * 0.01f;
        least = std::min(least, squared_error(group, tried));
      }
      INFO(bits << " bits of " << count);
      CHECK(squared_error(group, fit_mse(group)) < 1.01 * least);
    }
}
