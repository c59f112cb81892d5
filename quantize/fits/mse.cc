#include <algorithm>
#include <array>
#include <cmath>

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
  constexpr std::array kShares = {1.0, 0.9, 0.8, 0.7, 0.6};
  constexpr std::array kNearer = {0.05, 0.025};  // how far from the best share the next ones are
  double low = 0, high = 0;
  for (const float x : group.values)
    if (std::isfinite(x)) low = std::min(low, static_cast<double>(x)), high = std::max(high, static_cast<double>(x));
  Alphabet best = alphabet_over(group.scheme, low, high);
  double least = squared_error(group, best), share = 1;
  const auto offer = [&](const Alphabet& alphabet) {
    const double error = squared_error(group, alphabet);
    if (!(error < least)) return false;
    least = error, best = alphabet;
    return true;
  };
  const auto offer_share = [&](double part) {
    if (offer(alphabet_over(group.scheme, low * part, high * part))) share = part;
  };
  for (const double part : kShares)
    if (part < 1) offer_share(part);
  for (const double step : kNearer) {
    const double middle = share;
    if (middle + step <= 1) offer_share(middle + step);
    offer_share(middle - step);
  }
  offer(with_best_scale(group, best));
  return best;
}

}  // namespace mlopt::quantize
