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

struct Reach {
  double low = 0, high = 0;
  double usual = 0;  ///< the root of the mean square, important numbers counting more
};

Reach reach_of(const Group& group) {
  Reach reach;
  double squares = 0, weights = 0;
  for (size_t i = 0; i < group.values.size(); ++i) {
    const auto x = static_cast<double>(group.values[i]), weight = static_cast<double>(group.weight(i));
    if (!std::isfinite(x)) continue;
    reach.low = std::min(reach.low, x), reach.high = std::max(reach.high, x);
    squares += weight * x * x, weights += weight;
  }
  if (weights > 0) reach.usual = std::sqrt(squares / weights);
  return reach;
}

/// To cut off more of the range gains nothing: steps for most numbers are finer by then than the error of the rest. The
/// optimum for a normal variable is 2 of its deviations in 2 bits and 2.7 in 4; a few large numbers, which are worth
/// being clipped, make `usual` more than that. In more bits they are not worth it.
double least_share(const Scheme& scheme, const Reach& reach) {
  constexpr double kForBit = 0.45, kAlways = 0.6, kLeast = 0.05;
  constexpr int kFewBits = 4;
  // With 1 bit the codes are the same in all steps.
  if (scheme.bits == 1 || scheme.bits > kFewBits || !(reach.usual > 0)) return kAlways;
  const double share = kForBit * scheme.bits * reach.usual / std::max(-reach.low, reach.high);
  return std::clamp(share, kLeast, kAlways);
}

}  // namespace

Alphabet fit_mse(const Group& group) {
  constexpr double kNext = 0.88;                 // of a share
  constexpr std::array kNearer = {0.05, 0.025};  // how far from the best share the next ones are, in parts of it
  const Reach reach = reach_of(group);
  Alphabet best = alphabet_over(group.scheme, reach.low, reach.high);
  double least = squared_error(group, best), share = 1;
  const auto offer = [&](const Alphabet& alphabet) {
    const double error = squared_error(group, alphabet);
    if (!(error < least)) return false;
    least = error, best = alphabet;
    return true;
  };
  const auto offer_share = [&](double part) {
    if (offer(alphabet_over(group.scheme, reach.low * part, reach.high * part))) share = part;
  };
  const double last = kNext * least_share(group.scheme, reach);
  for (double part = kNext; part > last; part *= kNext) offer_share(part);
  for (const double step : kNearer) {
    const double middle = share;
    if (middle < 1) offer_share(std::min(1.0, middle * (1 + step)));
    offer_share(middle * (1 - step));
  }
  offer(with_best_scale(group, best));
  return best;
}

}  // namespace mlopt::quantize
