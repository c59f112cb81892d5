#include <algorithm>
#include <array>
#include <cmath>

#include "quantize/fits.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

/// The sum of |error|^p with p = 3/4: two roots, where the paper's 0.7 takes a logarithm.
double sparse_error(const Group& group, const Alphabet& alphabet) {
  constexpr size_t kAtOnce = 256;
  std::array<uint8_t, kAtOnce> codes{};
  double sum = 0;
  for (size_t first = 0; first < group.values.size(); first += kAtOnce) {
    const auto values = group.values.subspan(first, std::min(kAtOnce, group.values.size() - first));
    alphabet.nearest(values, codes.data());
    float part = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float off = std::isfinite(values[i]) ? std::fabs(alphabet.value(codes[i]) - values[i]) : 0;
      part += std::sqrt(off * std::sqrt(off));
    }
    sum += static_cast<double>(part);
  }
  return sum;
}

}  // namespace

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
