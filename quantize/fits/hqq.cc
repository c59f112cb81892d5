#include <algorithm>
#include <array>
#include <cmath>

#include "quantize/fits.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
Alphabet fit_hqq(const Group& group) {
  if (group.scheme.levels != Levels::kUniform) return fit_mse(group);
  constexpr std::array kShares = {1.0, 0.94, 0.88, 0.82, 0.76};
  const Alphabet whole = fit_minmax(group);
  const double most = squared_error(group, whole);
  Alphabet best = whole;
  double least = sparse_error(group, whole);
  for (const double share : kShares) {
    Alphabet tried = whole;
    tried.scale = usable_scale(static_cast<double>(whole.scale) * share);
    const int middle = group.scheme.symmetric ? whole.zero : static_cast<int>(std::nearbyint(whole.zero / share));
    for (const int move : {0, -1, 1}) {
      if (move != 0 && group.scheme.symmetric) break;
      tried.zero = std::clamp(middle + move, 0, whole.most);
      const double error = sparse_error(group, tried);
      if (error < least && squared_error(group, tried) <= most) least = error, best = tried;
    }
  }
  return best;
}

}  // namespace mlopt::quantize
