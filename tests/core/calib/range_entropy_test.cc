#include <cmath>
#include <limits>

#include "core/calib/range.h"
#include "tests/core/calib/numbers.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// The definition, bin by bin: P clipped to n bins and Q spread over the filled bins of each group, both normalized.
double divergence(const std::vector<double>& counts, size_t n, size_t groups) {
  std::vector<double> p(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n)), q(n);
  for (size_t g = 0; g < groups; ++g) {
    double mass = 0, filled = 0;
    for (size_t i = g * n / groups; i < (g + 1) * n / groups; ++i) mass += counts[i], filled += counts[i] > 0;
    for (size_t i = g * n / groups; i < (g + 1) * n / groups; ++i) q[i] = counts[i] > 0 ? mass / filled : 0;
  }
  for (size_t i = n; i < counts.size(); ++i) p.back() += counts[i];
  double p_sum = 0, q_sum = 0, found = 0;
  for (size_t i = 0; i < n; ++i) p_sum += p[i], q_sum += q[i];
  for (size_t i = 0; i < n; ++i)
    if (p[i] > 0) found += p[i] / p_sum * std::log(p[i] / p_sum / (q[i] > 0 ? q[i] / q_sum : 1e-10));
  return q_sum > 0 ? found : std::numeric_limits<double>::infinity();
}

double best_threshold(const Histogram& h, size_t groups) {
  const std::vector<double> counts = h.folded();
  size_t last = counts.size(), best = 0;
  while (counts[last - 1] == 0) --last;
  double least = std::numeric_limits<double>::infinity();
  for (size_t n = last; n >= groups; --n)
    if (const double d = divergence(counts, n, groups); d < least - 1e-12) least = d, best = n;
  return static_cast<double>(best) * h.bin_width();
}

std::vector<float> magnitudes(std::vector<float> x) {
  for (float& v : x) v = std::fabs(v);
  return x;
}

}  // namespace

TEST_CASE("the entropy range is the one of least divergence") {
  const Histogram both = test::histogram_of(test::laplace(100000));
  CHECK(entropy_range(both, 256).max == Approx(std::min(both.max(), best_threshold(both, 128))));
  CHECK(entropy_range(both, 256).max < 10);  // of 11.5
  CHECK(entropy_range(both, 256).min == -entropy_range(both, 256).max);
  const Histogram positive = test::histogram_of(magnitudes(test::laplace(100000)));
  CHECK(entropy_range(positive, 256).max == Approx(std::min(positive.max(), best_threshold(positive, 256))));
  CHECK(entropy_range(positive, 256).min >= 0);
  const Histogram negative = test::histogram_of({-1, -2, -3, -2.5f});
  CHECK(entropy_range(negative, 256).max <= 0);
  CHECK(entropy_range(negative, 256).min >= -3);
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
