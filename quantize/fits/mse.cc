#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/fits.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

/// The scale of the least squared error where each number keeps its code.
Alphabet with_best_scale(const Group& group, Alphabet alphabet) {
  double along = 0, square = 0;
  const float scale = alphabet.scale;
  for (size_t i = 0; i < group.values.size(); ++i) {
    if (!std::isfinite(group.values[i])) continue;
    const auto level = static_cast<double>(alphabet.value(alphabet.nearest(group.values[i])) / scale);
    const auto weight = static_cast<double>(group.weight(i));
    along += weight * static_cast<double>(group.values[i]) * level;
    square += weight * level * level;
  }
  if (along > 0 && square > 0) alphabet.scale = usable_scale(along / square);
  return alphabet;
}

}  // namespace

Alphabet fit_mse(const Group& group) {
  constexpr int kTries = 16, kRefinements = 2;
  constexpr double kStep = 0.03;
  double low = 0, high = 0;
  for (const float x : group.values)
    if (std::isfinite(x)) low = std::min(low, static_cast<double>(x)), high = std::max(high, static_cast<double>(x));
  Alphabet best;
  double least = std::numeric_limits<double>::infinity();
  const auto offer = [&](const Alphabet& alphabet) {
    const double error = squared_error(group, alphabet);
    if (error < least) least = error, best = alphabet;
  };
  for (int k = 0; k < kTries; ++k) offer(alphabet_over(group.scheme, low * (1 - k * kStep), high * (1 - k * kStep)));
  for (int k = 0; k < kRefinements; ++k) offer(with_best_scale(group, best));
  return best;
}

}  // namespace mlopt::quantize
