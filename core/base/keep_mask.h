#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/base/rng.h"

namespace mlopt {

/// Which elements of a sample a dropout keeps: any of them can be asked for by itself, as each follows from the numbers
/// below and its position alone (a counter-based generator, SplitMix64's).
class KeepMask {
 public:
  /// `sample`: its key, which is another in each epoch; `node`: the number of the dropout; 0 <= ratio < 1 is dropped.
  KeepMask(int64_t sample, int64_t node, double ratio)
      : key_(seed_of({static_cast<uint64_t>(sample), static_cast<uint64_t>(node)})),
        dropped_(static_cast<uint64_t>(ratio * 0x1.0p53)) {}

  bool operator[](int64_t position) const {
    return scrambled(key_ + (static_cast<uint64_t>(position) + 1) * kGolden) >> 11 >= dropped_;
  }

 private:
  uint64_t key_, dropped_;
};

/// The number at a position of those that follow from a key (seed_of()): from 0 to below 1, in 24 bits, so that float32
/// holds it.
inline double seeded_uniform_at(uint64_t key, int64_t position) {
  return static_cast<double>(scrambled(key + (static_cast<uint64_t>(position) + 1) * kGolden) >> 40) * 0x1.0p-24;
}

/// Standard normal (Box and Muller 1958) where seeded_uniform_at() is uniform.
inline double seeded_normal_at(uint64_t key, int64_t position) {
  const double length = -2 * std::log(1 - seeded_uniform_at(key, 2 * position));
  return std::sqrt(length) * std::cos(2 * std::numbers::pi * seeded_uniform_at(key, 2 * position + 1));
}

}  // namespace mlopt
