#include <algorithm>
#include <cmath>
#include <limits>

#include "core/calib/range.h"
#include "tests/core/calib/numbers.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// The definition, bin by bin: P clipped to the bins [begin, end) and Q spread over the filled bins of each group, both
/// normalized.
double divergence(const std::vector<double>& counts, size_t begin, size_t end, size_t groups) {
  const size_t n = end - begin;
  std::vector<double> inside(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                             counts.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<double> p = inside, q(n);
  for (size_t g = 0; g < groups; ++g) {
    double mass = 0, filled = 0;
    for (size_t i = g * n / groups; i < (g + 1) * n / groups; ++i) mass += inside[i], filled += inside[i] > 0;
    for (size_t i = g * n / groups; i < (g + 1) * n / groups; ++i) q[i] = inside[i] > 0 ? mass / filled : 0;
  }
  for (size_t i = 0; i < begin; ++i) p.front() += counts[i];
  for (size_t i = end; i < counts.size(); ++i) p.back() += counts[i];
  double p_sum = 0, q_sum = 0, found = 0;
  for (size_t i = 0; i < n; ++i) p_sum += p[i], q_sum += q[i];
  for (size_t i = 0; i < n; ++i)
    if (p[i] > 0) found += p[i] / p_sum * std::log(p[i] / p_sum / (q[i] > 0 ? q[i] / q_sum : 1e-10));
  return found;
}

/// Over all thresholds, the largest first.
double best_threshold(const Histogram& h, size_t levels) {
  const size_t zero = h.bins().size() / 2;
  std::vector<double> counts(h.bins().begin(), h.bins().end());
  counts[zero] -= static_cast<double>(h.zeros());
  size_t first = 0, last = counts.size(), best = 0;
  while (first < zero && counts[first] == 0) ++first;
  while (last > zero && counts[last - 1] == 0) --last;
  double least = std::numeric_limits<double>::infinity();
  for (size_t n = std::max(zero - first, last - zero); n > 0; --n) {
    const size_t begin = std::max(first, zero - n), end = std::min(last, zero + n);
    size_t filled = 0;
    for (size_t i = begin; i < end; ++i) filled += counts[i] > 0;
    if (filled < levels) break;
    if (const double d = divergence(counts, begin, end, levels); d < least - 1e-12) least = d, best = n;
  }
  return static_cast<double>(best) * h.bin_width();
}

std::vector<float> hard_swish(std::vector<float> x) {
  for (float& v : x) v *= std::clamp(v + 3, 0.0f, 6.0f) / 6;
  return x;
}

std::vector<float> magnitudes(std::vector<float> x) {
  for (float& v : x) v = std::fabs(v);
  return x;
}

}  // namespace

TEST_CASE("the entropy range is the one of least divergence") {
  const Histogram both = test::histogram_of(test::laplace(100000));
  CHECK(entropy_range(both, 256).max == Approx(std::min(both.max(), best_threshold(both, 256))));
  CHECK(entropy_range(both, 256).max < 10);  // of 11.5
  CHECK(entropy_range(both, 256).min == -entropy_range(both, 256).max);
  const Histogram positive = test::histogram_of(magnitudes(test::laplace(100000)));
  CHECK(entropy_range(positive, 256).max == Approx(std::min(positive.max(), best_threshold(positive, 256))));
  CHECK(entropy_range(positive, 256).min >= 0);
  const Histogram negative = test::histogram_of({-1, -2, -3, -2.5f});
  CHECK(entropy_range(negative, 256).max <= 0);
  CHECK(entropy_range(negative, 256).min >= -3);
}

TEST_CASE("the entropy range of a HardSwish spends few levels on its short negative side") {
  const Histogram h = test::histogram_of(hard_swish(test::laplace(100000)));
  const Range range = entropy_range(h, 256);
  CHECK(range.min == h.min());
  CHECK(range.max == Approx(std::min(h.max(), best_threshold(h, 256))));
}

TEST_CASE("numbers far from zero are not all clipped to the least of them") {
  // What a HardSigmoid gives a gate: nothing near zero.
  std::vector<float> x = test::laplace(50000);
  for (float& v : x) v = std::clamp(v / 12 + 0.5f, 0.17f, 0.97f);
  const Range range = entropy_range(test::histogram_of(x), 256);
  CHECK(range.max > 0.9);
  CHECK(entropy_range(test::histogram_of({-5, -5.5f, -6}), 256).min == -6);
}

TEST_CASE("the zeros of a Relu do not change the entropy range") {
  std::vector<float> x = magnitudes(test::laplace(50000));
  const Range without = entropy_range(test::histogram_of(x), 256);
  x.insert(x.end(), 50000, 0.0f);
  const Range with = entropy_range(test::histogram_of(x), 256);
  CHECK(without.max > 5);
  CHECK(with.max == without.max);
}

TEST_CASE("numbers that saturate at the end of their range are kept") {
  // Half of what a clamp at 6 gives lies at 6, on the edge of a bin.
  std::vector<float> x;
  for (int i = 0; i < 20000; ++i) x.push_back(std::min(6.0f, static_cast<float>(i) * 6e-4f));
  CHECK(entropy_range(test::histogram_of(x), 256).max == 6);
}

}  // namespace mlopt
