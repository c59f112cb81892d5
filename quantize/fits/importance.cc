#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "quantize/fits.h"

namespace mlopt::quantize {

std::vector<float> importance(std::span<const double> squares) {
  constexpr double kUnseen = 1e-4;  // other data may have what these had not
  std::vector<float> counts(squares.size(), 1);
  const double mean =
      std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(std::max<size_t>(1, squares.size()));
  if (!(mean > 0) || !std::isfinite(mean)) return counts;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<float>(std::max(kUnseen, squares[i] / mean));
  return counts;
}

}  // namespace mlopt::quantize
