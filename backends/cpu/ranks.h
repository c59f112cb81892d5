#pragma once
#include <bit>
#include <cstdint>

namespace mlopt::cpu {

/// A number that is larger the earlier an element comes: in its upper half by the value, NaN above all and both zeros
/// alike, in its lower half by the place, the first first.
inline uint64_t rank_of(float x, uint32_t place, bool largest) {
  constexpr uint32_t kSign = 1u << 31, kNaN = ~0u;
  const uint32_t bits = std::bit_cast<uint32_t>(x + 0.0f);
  const uint32_t order = x != x ? kNaN : (bits & kSign) != 0 ? ~bits : bits | kSign;
  return uint64_t{largest ? order : ~order} << 32 | static_cast<uint32_t>(~place);
}

/// The place of the element that has this rank.
inline int64_t place_of(uint64_t rank) { return static_cast<uint32_t>(~rank); }

}  // namespace mlopt::cpu
