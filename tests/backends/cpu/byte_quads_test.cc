#include "backends/cpu/byte_quads.h"

#include <algorithm>

#include "core/base/rng.h"
#include "tests/support/catch.h"

namespace mlopt::cpu {
namespace {

std::vector<int8_t> random_weights(int64_t steps, int64_t columns, int64_t most, uint64_t seed) {
  Rng rng(seed);
  std::vector<int8_t> weights(static_cast<size_t>(steps * columns * 4));
  for (int8_t& w : weights) w = static_cast<int8_t>(rng.integer(-most - (most == 127 ? 1 : 0), most));
  return weights;
}

/// Largest and smallest sums of two products with numbers up to 255, for steps [first, first + count).
bool fits_16_bits(const QuadPanel& p, int64_t columns, int64_t first, int64_t count) {
  for (int64_t lane = 0; lane < 2 * columns; ++lane) {
    int32_t high = 0, low = 0;
    for (int64_t step = first; step < first + count; ++step)
      for (int64_t k = 0; k < 2; ++k) {
        const int32_t w = p.weights[static_cast<size_t>(step * columns * 4 + 2 * lane + k)];
        (w > 0 ? high : low) += 255 * w;
      }
    if (high > 32767 || low < -32768) return false;
  }
  return true;
}

/// Each element's weights, whatever steps they are in.
std::vector<int32_t> sums_of(const std::vector<int8_t>& weights, const std::vector<int32_t>& order, int64_t columns,
                             int64_t elements) {
  std::vector<int32_t> sums(static_cast<size_t>(elements * columns), 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto at = static_cast<int64_t>(i), step = at / (4 * columns), column = at / 4 % columns;
    sums[static_cast<size_t>((order[static_cast<size_t>(step)] + at % 4) * columns + column)] += weights[i];
  }
  return sums;
}

}  // namespace

TEST_CASE("steps in any order have the weights that were given, in sums that fit into 16 bits") {
  for (const int64_t most : {127, 90, 40, 5})
    for (const int64_t columns : {8, 16, 1})
      for (const int64_t steps : {1, 2, 7, 40}) {
        INFO("up to " << most << ", " << columns << " columns, " << steps << " steps");
        const auto given = random_weights(steps, columns, most, static_cast<uint64_t>(most + columns + steps));
        const QuadPanel p = order_quads(given, columns);
        std::vector<int32_t> plain(static_cast<size_t>(steps));
        for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<int32_t>(4 * i);
        CHECK(sums_of(p.weights, p.order, columns, 4 * steps) == sums_of(given, plain, columns, 4 * steps));
        const auto count = static_cast<int64_t>(p.order.size());
        for (int64_t i = 0; i < p.twos; ++i) REQUIRE(fits_16_bits(p, columns, 2 * i, 2));
        for (int64_t i = 2 * p.twos; i < count; ++i) REQUIRE(fits_16_bits(p, columns, i, 1));
        if (most == 5) CHECK(p.twos == steps / 2);
        if (most <= 40) CHECK(count == steps);
      }
}

TEST_CASE("the lowest of all weights are split too") {
  const QuadPanel p = order_quads(std::vector<int8_t>(4, -128), 1);
  CHECK(p.order == std::vector<int32_t>{0, 0});
  CHECK(p.weights == std::vector<int8_t>(8, -64));
}

}  // namespace mlopt::cpu
