#include <algorithm>
#include <cmath>
#include <vector>

#include "quantize/fits.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

Alphabet fit_ternary(const Group& group) {
  std::vector<size_t> order;
  for (size_t i = 0; i < group.values.size(); ++i)
    if (std::isfinite(group.values[i])) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::fabs(group.values[a]) > std::fabs(group.values[b]); });
  double best = 0, scale = 0, sum = 0, weights = 0;
  for (const size_t i : order) {
    const auto weight = static_cast<double>(group.weight(i));
    sum += weight * static_cast<double>(std::fabs(group.values[i]));
    weights += weight;
    if (!(weights > 0) || sum * sum / weights <= best) continue;
    best = sum * sum / weights;
    scale = sum / weights;
  }
  return {usable_scale(scale), 0, group.scheme.table, static_cast<int>(group.scheme.codes() - 1)};
}

}  // namespace mlopt::quantize
