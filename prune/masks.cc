#include "prune/masks.h"

#include <fmt/core.h>

#include <algorithm>

namespace mlopt::prune {

std::string pattern_problem(const Weight& weight, const Granularity& granularity) {
  const int64_t channels = weight.columns / weight.kernel;
  if (channels % granularity.of == 0) return {};
  return fmt::format("its {} inputs are no multiple of {}", channels, granularity.of);
}

std::vector<bool> pattern_mask(const Weight& weight, const Matrix& scores, const Granularity& granularity) {
  std::vector<bool> mask(scores.values.size());
  const int64_t span = granularity.of * weight.kernel, gone = granularity.of - granularity.keep;
  std::vector<int64_t> group(static_cast<size_t>(granularity.of));
  for (int64_t r = 0; r < weight.rows; ++r)
    for (int64_t first = 0; first < weight.columns; first += span)
      for (int64_t k = 0; k < weight.kernel; ++k) {
        for (int64_t i = 0; i < granularity.of; ++i) group[static_cast<size_t>(i)] = first + i * weight.kernel + k;
        std::stable_sort(group.begin(), group.end(),
                         [&](int64_t a, int64_t b) { return scores.at(r, a) < scores.at(r, b); });
        for (int64_t i = 0; i < gone; ++i)
          mask[static_cast<size_t>(r * weight.columns + group[static_cast<size_t>(i)])] = true;
      }
  return mask;
}

std::vector<bool> unit_mask(const Candidate& candidate) {
  const Units& units = candidate.units;
  std::vector<bool> mask(static_cast<size_t>(units.rows * units.columns));
  for (int64_t r = 0; r < units.rows; ++r)
    for (int64_t c = 0; c < units.columns; ++c)
      mask[static_cast<size_t>(r * units.columns + c)] = candidate.removed[static_cast<size_t>(units.of(r, c))];
  return mask;
}

void zero_out(const std::vector<bool>& mask, Matrix& values) {
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) values.values[i] = 0;
}

}  // namespace mlopt::prune
