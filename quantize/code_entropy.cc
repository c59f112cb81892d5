#include "quantize/code_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "core/base/parallel.h"

namespace mlopt::quantize {
namespace {

constexpr size_t kZero = 256, kSymbols = kZero + 1;  // codes, and what stands for 0
using Counts = std::array<int64_t, kSymbols>;

/// Of so many codes. Neighbours are often the same: each waits for the one before, unless they have counts of their
/// own.
void count(const uint8_t* codes, int64_t size, Counts& counts) {
  constexpr size_t kLanes = 4;
  std::array<std::array<uint32_t, kZero>, kLanes> lanes{};
  int64_t i = 0;
  for (; i + int64_t{kLanes} <= size; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) ++lanes[lane][codes[i + static_cast<int64_t>(lane)]];
  for (; i < size; ++i) ++lanes[0][codes[i]];
  for (const auto& lane : lanes)
    for (size_t code = 0; code < kZero; ++code) counts[code] += lane[code];
}

/// How many are the code, many at a time.
int64_t count_of(uint8_t code, const uint8_t* codes, int64_t size) {
  constexpr int64_t kLanes = 16;
  int64_t found = 0, i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    std::array<uint8_t, kLanes> part;
    std::memcpy(part.data(), codes + i, sizeof part);
    int here = 0;
    for (const uint8_t one : part) here += one == code;
    found += here;
  }
  for (; i < size; ++i) found += codes[i] == code;
  return found;
}

/// Those of a group that stand for 0 are one symbol, whatever codes they are.
void move_zeros(const Alphabet& alphabet, const uint8_t* codes, int64_t size, Counts& counts) {
  const auto move = [&](int code) {
    const int64_t found = count_of(static_cast<uint8_t>(code), codes, size);
    counts[static_cast<size_t>(code)] -= found;
    counts[kZero] += found;
  };
  if (alphabet.table.empty()) return move(alphabet.zero);
  for (size_t code = 0; code < alphabet.table.size(); ++code)
    if (alphabet.table[code] == 0) move(static_cast<int>(code));
}

Counts counts_of(const Coded& coded) {
  constexpr int64_t kAtOnce = int64_t{1} << 18;  // codes that are worth a thread
  const int64_t width = coded.code_columns(), step = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, width));
  const int64_t parts = (coded.rows + step - 1) / step;
  std::vector<Counts> found(static_cast<size_t>(parts));
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      Counts& counts = found[static_cast<size_t>(p)];
      const int64_t first = p * step, last = std::min(coded.rows, first + step);
      count(coded.codes.data() + first * width, (last - first) * width, counts);
      if (coded.levels == Levels::kVectors) continue;
      for (int64_t r = first; r < last; ++r)
        for (int64_t c = 0; c < coded.columns; c += coded.group)
          move_zeros(coded.alphabet(coded.alphabet_at(r, c)), coded.codes.data() + r * width + c,
                     std::min(coded.group, coded.columns - c), counts);
    }
  });
  Counts all{};
  for (const Counts& part : found)
    for (size_t i = 0; i < all.size(); ++i) all[i] += part[i];
  return all;
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
