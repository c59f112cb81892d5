#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace mlopt {

/// Of the finite ones among numbers.
struct Limits {
  float low = INFINITY, high = -INFINITY;
  int64_t finite = 0, zeros = 0;

  void add(const Limits& other);
};

Limits limits_of(std::span<const float> numbers);

/// Which of `bins` intervals of width 1 / inverse around zero the finite number lies in; the last takes what lies
/// behind it. Exact where `inverse` is a power of two.
inline int bin_of(float number, float inverse, int bins) {
  return std::min(bins - 1, static_cast<int>(std::floor(number * inverse)) + bins / 2);
}

/// Adds to the counts how many of the numbers lie in each interval, as bin_of() says. `counts`: kBinTables tables of
/// bins + 1, to be added up, so that neighbours of one kind (the zeros of a Relu) do not wait for each other; the last
/// count of each is of what is not finite.
inline constexpr size_t kBinTables = 4;
void count_bins(std::span<const float> numbers, float inverse, int bins, std::span<uint32_t> counts);

}  // namespace mlopt
