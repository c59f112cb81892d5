#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mlopt {

/// The value below which a share `q` (0 to 1) of the sorted values lies, interpolated between neighbours; 0 when empty.
double quantile(std::span<const double> sorted, double q);
double median(std::vector<double> values);

/// A latency distribution, in milliseconds.
struct Latency {
  double min = 0, mean = 0, p50 = 0, p90 = 0, p99 = 0;
  int64_t runs = 0;
};
Latency summarize(std::vector<double> seconds);

}  // namespace mlopt
