#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mlopt {

/// The value below which a share `q` (0 to 1) of the sorted values lies, interpolated between neighbours; 0 when empty.
double quantile(std::span<const double> sorted, double q);
double median(std::vector<double> values);

/// A median and its 95 % interval.
struct Estimate {
  double median = 0, low = 0, high = 0;
};
/// With a percentile bootstrap (Efron 1979); all 0 when empty.
Estimate bootstrap_median(const std::vector<double>& values, uint64_t seed);

/// A latency distribution, in milliseconds.
struct Latency {
  double min = 0, mean = 0, p50 = 0, p90 = 0, p99 = 0;
  int64_t runs = 0;
};
Latency summarize(std::vector<double> seconds);

}  // namespace mlopt
