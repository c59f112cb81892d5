#pragma once
#include <cstdint>

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

}  // namespace mlopt
