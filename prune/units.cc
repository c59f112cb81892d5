#include "prune/units.h"

#include <cmath>

namespace mlopt::prune {

Units units_of(const Weight& weight, const Granularity& granularity) {
  Units units{weight.rows, weight.columns, granularity.rows, granularity.columns};
  if (granularity.name == "kernel") units.width = weight.kernel;
  return units;
}

std::vector<float> unit_scores(const Units& units, const Matrix& scores, const Matrix& values,
                               const std::string& norm) {
  const auto count = static_cast<size_t>(units.count());
  std::vector<double> sums(count);
  std::vector<bool> alive(count);
  const bool squared = norm == "l2";
  for (int64_t r = 0; r < units.rows; ++r)
    for (int64_t c = 0; c < units.columns; ++c) {
      const auto u = static_cast<size_t>(units.of(r, c));
      const double x = scores.at(r, c);
      sums[u] += squared ? x * x : x;
      if (values.at(r, c) != 0) alive[u] = true;
    }
  std::vector<float> means(count);
  for (size_t u = 0; u < count; ++u) {
    const double mean = sums[u] / static_cast<double>(units.size(static_cast<int64_t>(u)));
    means[u] = alive[u] ? static_cast<float>(squared ? std::sqrt(mean) : mean) : -1;
  }
  return means;
}

}  // namespace mlopt::prune
