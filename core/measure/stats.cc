#include "core/measure/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/rng.h"

namespace mlopt {
namespace {

constexpr int kResamples = 2000;

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

Estimate bootstrap_median(const std::vector<double>& values, uint64_t seed) {
  if (values.empty()) return {};
  Rng rng(seed);
  std::vector<double> medians, sample(values.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& v : sample) v = values[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(values.size()) - 1))];
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  return {.median = median(values), .low = quantile(medians, 0.025), .high = quantile(medians, 0.975)};
}

Latency summarize(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const auto ms = [&](double q) { return 1e3 * quantile(seconds, q); };
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {.min = ms(0),
          .mean = 1e3 * sum / static_cast<double>(seconds.size()),
          .p50 = ms(0.5),
          .p90 = ms(0.9),
          .p99 = ms(0.99),
          .runs = static_cast<int64_t>(seconds.size())};
}

}  // namespace mlopt
