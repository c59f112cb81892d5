#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "quantize/fits.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

constexpr size_t kLanes = 16;  // numbers at once, of which compilers make vectors

/// Zero is in every range. Bits instead of a comparison of floats, which compilers leave out of vectors.
float finite_or_zero(float x) {
  constexpr int32_t kExponent = 0x7f800000;
  const auto bits = std::bit_cast<int32_t>(x);
  return std::bit_cast<float>((bits & kExponent) == kExponent ? 0 : bits);
}

/// Signs err less in steps of the mean magnitude than of the largest.
Alphabet fit_signs(const Group& group) {
  double sum = 0;
  for (const float x : group.values) sum += static_cast<double>(std::fabs(finite_or_zero(x)));
  return alphabet_over(group.scheme, 0, sum / static_cast<double>(std::max<size_t>(1, group.values.size())));
}

}  // namespace

Alphabet alphabet_over(const Scheme& scheme, double low, double high) {
  const auto most = static_cast<int>(scheme.codes() - 1);
  const int middle = 1 << (scheme.bits - 1);
  if (scheme.bits == 1)  // without a code for zeros
    return {usable_scale(std::max({-low, high, static_cast<double>(FLT_MIN)})), 0, scheme.table, most};
  if (scheme.levels != Levels::kUniform) return {usable_scale(std::max(-low, high)), 0, scheme.table, most};
  if (scheme.symmetric) return {usable_scale(std::max(-low, high) / std::max(1, middle - 1)), middle, {}, most};
  const float scale = usable_scale((high - low) / most);
  const double zero = std::nearbyint(-low / static_cast<double>(scale));
  return {scale, static_cast<int>(std::clamp(zero, 0.0, static_cast<double>(most))), {}, most};
}

Alphabet fit_minmax(const Group& group) {
  if (group.scheme.bits == 1) return fit_signs(group);
  std::array<float, kLanes> low{}, high{};
  size_t i = 0;
  for (; i + kLanes <= group.values.size(); i += kLanes) {
    std::array<float, kLanes> x;
    std::memcpy(x.data(), group.values.data() + i, sizeof x);
    for (size_t k = 0; k < kLanes; ++k) {
      x[k] = finite_or_zero(x[k]);
      low[k] = x[k] < low[k] ? x[k] : low[k];
      high[k] = x[k] > high[k] ? x[k] : high[k];
    }
  }
  for (; i < group.values.size(); ++i) {
    const float x = finite_or_zero(group.values[i]);
    low[0] = std::min(low[0], x);
    high[0] = std::max(high[0], x);
  }
  return alphabet_over(group.scheme, static_cast<double>(*std::min_element(low.begin(), low.end())),
                       static_cast<double>(*std::max_element(high.begin(), high.end())));
}

}  // namespace mlopt::quantize
