#include "quantize/code_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace mlopt::quantize {
namespace {

constexpr size_t kZero = 256, kSymbols = kZero + 1;  // codes, and what stands for 0
using Counts = std::array<int64_t, kSymbols>;

Counts counts_of_vectors(const Coded& coded) {
  Counts counts{};
  for (const uint8_t code : coded.codes) ++counts[code];
  return counts;
}

Counts counts_of(const Coded& coded) {
  if (coded.levels == Levels::kVectors) return counts_of_vectors(coded);
  Counts counts{};
  for (int64_t r = 0; r < coded.rows; ++r)
    for (int64_t first = 0; first < coded.columns; first += coded.group) {
      const Alphabet alphabet = coded.alphabet(coded.alphabet_at(r, first));
      Counts here{};
      for (int64_t c = first; c < std::min(coded.columns, first + coded.group); ++c)
        ++here[coded.codes[static_cast<size_t>(r * coded.columns + c)]];
      for (size_t code = 0; code < kZero; ++code)
        if (here[code] > 0) counts[alphabet.value(static_cast<uint8_t>(code)) == 0 ? kZero : code] += here[code];
    }
  return counts;
}

/// Of scales, zero points where they differ, and tables.
int64_t alphabet_bytes(const Coded& coded) {
  constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
  const bool zeros_differ =
      std::adjacent_find(coded.zero.begin(), coded.zero.end(), std::not_equal_to<>()) != coded.zero.end();
  const int64_t scales = coded.levels == Levels::kCodebook ? 0 : std::ssize(coded.scale);
  return kFloat * (scales + std::ssize(coded.table)) + (zeros_differ ? std::ssize(coded.zero) : 0);
}

}  // namespace

int64_t entropy_coded_bytes(const Coded& coded) {
  constexpr int64_t kShareBytes = 4;  // of each symbol that occurs
  const Counts counts = counts_of(coded);
  const auto all = static_cast<double>(coded.codes.size());
  double bits = 0;
  int64_t symbols = 0;
  for (const int64_t count : counts) {
    if (count == 0) continue;
    ++symbols;
    bits -= static_cast<double>(count) * std::log2(static_cast<double>(count) / all);
  }
  return static_cast<int64_t>(std::ceil(bits / 8)) + kShareBytes * symbols + alphabet_bytes(coded);
}

}  // namespace mlopt::quantize
