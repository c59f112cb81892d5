#pragma once
#include <cstdint>
#include <string>

#include "core/measure/timing.h"

namespace mlopt {

/// How many times faster one candidate is than another: above 1, faster.
struct Ratio {
  double median = 1, low = 1, high = 1;  ///< over pairs of neighbouring blocks, and its 95 % interval
  size_t blocks = 0;

  /// Surely, and by enough to show in two decimals.
  bool faster() const { return low > 1 && median >= 1.005; }
  bool slower() const { return high < 1 && median <= 1 / 1.005; }
  /// The interval rests on too few blocks to say anything.
  bool rests_on_few() const;
  /// That, or neither faster nor slower, and the interval is too wide to call them equal.
  bool inconclusive() const;
};

/// The speed of `other` relative to `first`, timed in turn: the median over blocks of the ratio of the blocks' medians,
/// with a bootstrap over blocks.
Ratio speed_ratio(const std::vector<Block>& first, const std::vector<Block>& other, uint64_t seed);

/// "1.43x faster (1.38 to 1.49)", "1.20x slower (1.15 to 1.26)", "as fast (0.99 to 1.02)", "inconclusive (0.71
/// to 1.60)", "inconclusive (too few runs)".
std::string in_words(const Ratio& ratio);

}  // namespace mlopt
