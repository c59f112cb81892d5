#include <algorithm>
#include <cmath>

#include "quantize/fits.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
Alphabet alphabet_over(const Scheme& scheme, double low, double high) {
  const auto most = static_cast<int>(scheme.codes() - 1);
  const int middle = 1 << (scheme.bits - 1);
  if (scheme.levels != Levels::kUniform) return {usable_scale(std::max(-low, high)), 0, scheme.table, most};
  if (scheme.symmetric) return {usable_scale(std::max(-low, high) / std::max(1, middle - 1)), middle, {}, most};
  const float scale = usable_scale((high - low) / most);
  const double zero = std::nearbyint(-low / static_cast<double>(scale));
  return {scale, static_cast<int>(std::clamp(zero, 0.0, static_cast<double>(most))), {}, most};
}

Alphabet fit_minmax(const Group& group) {
  float low = 0, high = 0;
  for (const float x : group.values) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  return alphabet_over(group.scheme, static_cast<double>(low), static_cast<double>(high));
}

}  // namespace mlopt::quantize
