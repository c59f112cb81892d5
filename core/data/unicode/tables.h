#pragma once
#include <cstdint>
#include <span>

#include "core/data/unicode/characters.h"

// Tables of characters, each in increasing order, written by scripts/unicode_tables.py.

namespace mlopt::unicode {

struct ClassRange {
  char32_t first, last;
  CharClass kind;
};
std::span<const ClassRange> class_ranges();

/// Every step-th character from first to last becomes itself plus delta.
struct LowerRange {
  char32_t first, last;
  int step, delta;
};
std::span<const LowerRange> lower_ranges();

/// `count` characters from `first` whose canonical decomposition is `base` and marks that take no space.
struct BaseRange {
  char32_t first;
  int count;
  char32_t base;
};
std::span<const BaseRange> base_ranges();

/// Characters that decompose into several which take space; ends with 0 where there are two.
struct BaseString {
  char32_t character, bases[3];
};
std::span<const BaseString> base_strings();

/// The canonical combining class of marks that take space, where it is not 0.
struct OrderRange {
  char32_t first, last;
  int order;
};
std::span<const OrderRange> order_ranges();

/// What the compatibility ideographs from U+F900 to U+FAD9, and from U+2F800 to U+2FA1D, stand for.
std::span<const char32_t> ideographs();
std::span<const char32_t> more_ideographs();

/// The range that holds `c`, or null. Ranges have members `first` and `last`.
template <class Range>
const Range* find_range(std::span<const Range> ranges, char32_t c) {
  size_t low = 0, high = ranges.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (c > ranges[middle].last) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < ranges.size() && c >= ranges[low].first ? &ranges[low] : nullptr;
}

}  // namespace mlopt::unicode
