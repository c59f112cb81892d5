#include <algorithm>
#include <array>
#include <cmath>

#include "quantize/fits.h"

namespace mlopt::quantize {
namespace {

constexpr size_t kLanes = 8;  // sums side by side, which the compiler may keep in one register
using Lanes = std::array<float, kLanes>;

double total(const Lanes& lanes) {
  double sum = 0;
  for (const float x : lanes) sum += static_cast<double>(x);
  return sum;
}

float root_mean_square(std::span<const float> values) {
  Lanes sums{};
  for (size_t i = 0; i < values.size(); ++i) sums[i % kLanes] += std::isfinite(values[i]) ? values[i] * values[i] : 0;
  return static_cast<float>(std::sqrt(total(sums) / static_cast<double>(std::max<size_t>(1, values.size()))));
}

/// Calls see(lane, i, value - number) for each number; where that is not finite the difference is 0.
template <class See>
void each_error(std::span<const float> values, const Alphabet& alphabet, const See& see) {
  const auto look = [&](size_t lane, size_t i, float level) {
    const float off = level - values[i];
    see(lane, i, off - off == 0 ? off : 0);
  };
  if (!alphabet.table.empty()) {
    for (size_t i = 0; i < values.size(); ++i) look(i % kLanes, i, alphabet.value(alphabet.nearest(values[i])));
    return;
  }
  // As Alphabet::nearest() rounds, but for halves that its division has and this product has not.
  constexpr float kRounds = 12582912;
  const auto low = static_cast<float>(-alphabet.zero), high = static_cast<float>(alphabet.most - alphabet.zero);
  const float scale = alphabet.scale, inverse = 1 / scale;
  const auto level = [&](float x) {
    const float steps = x * inverse, above = steps < low ? low : steps, inside = above > high ? high : above;
    return ((inside + kRounds) - kRounds) * scale;
  };
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) look(lane, i + lane, level(values[i + lane]));
  for (; i < values.size(); ++i) look(0, i, level(values[i]));
}

}  // namespace

double squared_error(const Group& group, const Alphabet& alphabet) {
  // What a layer multiplies by large weights tends to matter more to it than how large that is says.
  const float usual = root_mean_square(group.values);
  Lanes squares{}, shifts{};
  const float* x = group.values.data();
  const float* weights = group.importance.data();
  if (group.importance.empty())
    each_error(group.values, alphabet, [&](size_t lane, size_t i, float off) {
      squares[lane] += off * off * (usual + std::fabs(x[i]));
      shifts[lane] += off;
    });
  else
    each_error(group.values, alphabet, [&](size_t lane, size_t i, float off) {
      squares[lane] += off * off * (usual + std::fabs(x[i])) * weights[i];
      shifts[lane] += off;
    });
  const double shift = total(shifts);
  return total(squares) + group.shift * static_cast<double>(usual) * shift * shift;
}

double sparse_error(const Group& group, const Alphabet& alphabet) {
  Lanes sums{};
  each_error(group.values, alphabet, [&](size_t lane, size_t, float off) {
    const float size = std::fabs(off);
    sums[lane] += std::sqrt(size * std::sqrt(size));
  });
  return total(sums);
}

}  // namespace mlopt::quantize
