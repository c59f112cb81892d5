#include "quantize/nonuniform/tables.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/codes.h"
#include "core/tensor/small_float.h"

namespace mlopt::quantize {
namespace {

/// Magnitudes from 0 to 1 with both signs, zero once, in ascending order, and the largest again for spare codes.
std::vector<float> with_signs(const std::vector<float>& magnitudes) {
  const size_t codes = 2 * magnitudes.size();
  std::vector<float> table;
  for (const float m : magnitudes) {
    table.push_back(m);
    if (m != 0) table.push_back(-m);
  }
  std::sort(table.begin(), table.end());
  table.resize(codes, table.back());
  return table;
}

/// 0 and 1, 1/2, 1/4, ...: as many as `bits` tell apart.
std::vector<float> powers(int bits) {
  std::vector<float> found = {0};
  for (int k = 0; k < (1 << bits) - 1; ++k) found.push_back(std::ldexp(1.0f, -k));
  return found;
}

}  // namespace

std::vector<float> binary_table() { return {-1, 1}; }

std::vector<float> nf4_table() { return {kNF4.begin(), kNF4.end()}; }

std::vector<float> fp4_table() {
  return with_signs({0, 5.208333333e-03f, 0.16666667f, 0.25f, 0.33333333f, 0.5f, 0.66666667f, 1});
}

std::vector<float> float8_table(DType type) {
  std::vector<float> magnitudes;
  for (uint16_t code = 0; code < 128; ++code) {
    const float x = small_to_float(type, code);
    if (std::isfinite(x)) magnitudes.push_back(x);
  }
  const float largest = *std::max_element(magnitudes.begin(), magnitudes.end());
  for (float& m : magnitudes) m /= largest;
  magnitudes.resize(128, 1);
  return with_signs(magnitudes);
}

std::vector<float> power_table(int bits) { return with_signs(powers(bits - 1)); }

std::vector<float> additive_power_table(int bits) {
  const int few = (bits - 1) / 2;  // bits of the second term; one is the sign, and the first has the rest
  const int second = (1 << few) - 1, all = (1 << (bits - 1 - few)) - 1 + second;
  std::vector<float> a = {0}, b = {0};
  for (int k = 0, next = 0; k < all; ++k) {  // the powers of the second lie evenly among those of the first
    const bool is_second = next < second && k == (2 * next + 1) * all / (2 * second);
    (is_second ? b : a).push_back(std::ldexp(1.0f, -k));
    next += is_second;
  }
  std::vector<float> magnitudes;
  for (const float x : a)
    for (const float y : b) magnitudes.push_back(x + y);
  const float largest = *std::max_element(magnitudes.begin(), magnitudes.end());
  for (float& m : magnitudes) m /= largest;
  return with_signs(magnitudes);
}

}  // namespace mlopt::quantize
