#pragma once
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace mlopt {

/// A one-to-one map of 64 bits in which each bit of the result hangs on all of `x` (SplitMix64's; Steele et al. 2014).
/// scrambled(key + i * kGolden) for i = 1, 2, ... is the i-th number of a generator that may begin anywhere.
constexpr uint64_t scrambled(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

/// A seed that follows from all of these numbers and their order.
constexpr uint64_t seed_of(std::initializer_list<uint64_t> numbers) {
  uint64_t seed = 0;
  for (const uint64_t number : numbers) seed = scrambled(seed + number + kGolden);
  return seed;
}

/// A seeded generator whose sequence is the same on every platform (xoshiro256**, Blackman and Vigna 2018).
class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : s_) word = split_mix(seed);
  }

  uint64_t next() {
    const uint64_t result = rotate(s_[1] * 5, 7) * 9;
    const uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotate(s_[3], 45);
    return result;
  }

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform integer in [low, high]; low <= high.
  int64_t integer(int64_t low, int64_t high) {
    const auto span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    if (span == 0) return static_cast<int64_t>(next());
    return static_cast<int64_t>(static_cast<uint64_t>(low) + next() % span);
  }

  /// Standard normal (Box and Muller 1958).
  double normal() {
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }

 private:
  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t split_mix(uint64_t& x) {
    x += kGolden;
    return scrambled(x);
  }

  uint64_t s_[4];
};

}  // namespace mlopt
