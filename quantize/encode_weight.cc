#include "quantize/encode_weight.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/parallel.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kElements = int64_t{1} << 18;  // of the rows that are encoded at once: what a cache holds

constexpr size_t kLanes = 16;  // numbers at once, of which compilers make vectors

// Bits instead of comparisons of floats, which compilers leave out of vectors.
/// All ones for a finite number, else 0.
uint32_t finite_mask(float x) {
  constexpr uint32_t kExponent = 0x7f800000;
  return (std::bit_cast<uint32_t>(x) & kExponent) == kExponent ? 0 : ~uint32_t{0};
}
float masked(float x, uint32_t mask) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & mask); }

/// Squares of numbers and of what is lost of them, side by side.
struct Squares {
  std::array<float, kLanes> signal{}, noise{};
  std::array<uint32_t, kLanes> lost{};  ///< not 0: a number was not finite

  void add(const std::array<float, kLanes>& numbers, const std::array<float, kLanes>& values) {
    for (size_t i = 0; i < kLanes; ++i) {
      const float off = numbers[i] - values[i];
      const uint32_t keep = finite_mask(off);
      const float number = masked(numbers[i], keep), kept = masked(off, keep);
      signal[i] += number * number;
      noise[i] += kept * kept;
      lost[i] |= ~keep;
    }
  }

  /// kLanes numbers in uniform levels: sizes that compilers know.
  void add(const float* from, const uint8_t* codes, int zero, float scale) {
    std::array<float, kLanes> numbers, values;
    std::array<uint8_t, kLanes> part;
    std::memcpy(numbers.data(), from, sizeof numbers);
    std::memcpy(part.data(), codes, sizeof part);
    for (size_t i = 0; i < kLanes; ++i) values[i] = static_cast<float>(part[i] - zero) * scale;
    add(numbers, values);
  }
};

/// Signal and noise of what was encoded so far.
struct Noise {
  double signal = 0, noise = 0;
  bool finite = true;

  void add(const Matrix& values, const Coded& coded) {
    if (coded.levels == Levels::kVectors) return add(values, decode(coded));
    for (int64_t r = 0; r < values.rows; ++r)
      for (int64_t first = 0; first < values.columns; first += coded.group) {
        const Alphabet alphabet = coded.alphabet(coded.alphabet_at(r, first));
        const auto x = values.row(r).subspan(static_cast<size_t>(first));
        const uint8_t* codes = coded.codes.data() + r * coded.columns + first;
        add(x.first(static_cast<size_t>(std::min(coded.group, values.columns - first))), codes, alphabet);
      }
  }
  void add(const Matrix& values, const Matrix& decoded) {
    for (size_t i = 0; i < values.values.size(); ++i) {
      const auto x = static_cast<double>(values.values[i]), off = x - static_cast<double>(decoded.values[i]);
      if (std::isfinite(off)) signal += x * x, noise += off * off;
      finite = finite && std::isfinite(x);
    }
  }
  void add(std::span<const float> x, const uint8_t* codes, const Alphabet& alphabet) {
    Squares squares;
    size_t i = 0;
    if (alphabet.table.empty())
      for (; i + kLanes <= x.size(); i += kLanes) squares.add(x.data() + i, codes + i, alphabet.zero, alphabet.scale);
    for (; i < x.size(); i += kLanes) {
      std::array<float, kLanes> numbers{}, values{};
      for (size_t k = 0; k < std::min(kLanes, x.size() - i); ++k) {
        numbers[k] = x[i + k];
        values[k] = alphabet.value(codes[i + k]);
      }
      squares.add(numbers, values);
    }
    signal += std::accumulate(squares.signal.begin(), squares.signal.end(), 0.0);
    noise += std::accumulate(squares.noise.begin(), squares.noise.end(), 0.0);
    finite = finite && std::all_of(squares.lost.begin(), squares.lost.end(), [](uint32_t m) { return m == 0; });
  }
  void add(const Noise& other) {
    signal += other.signal;
    noise += other.noise;
    finite = finite && other.finite;
  }
  double sqnr_db() const {
    constexpr double kDecibels = 10;
    if (!std::isfinite(signal) || !std::isfinite(noise)) return 0;  // squares of 1e19 and more: nothing is known
    return noise > 0 ? kDecibels * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
  }
};

/// Rows `first` and on of the whole.
void put_rows(const Coded& part, int64_t first, Coded& whole) {
  const auto copy = [&](const auto& from, auto& to) {
    std::copy(from.begin(), from.end(), to.begin() + first * std::ssize(from) / part.rows);
  };
  copy(part.codes, whole.codes);
  copy(part.scale, whole.scale);
  copy(part.zero, whole.zero);
  if (whole.levels == Levels::kCodebook) copy(part.table, whole.table);
}

}  // namespace

EncodedWeight encode_weight(const Weight& weight, const Method& method, const Scheme& scheme, const Observed* seen,
                            bool rectified) {
  // What was seen belongs to groups of rows, and its products are worked on once for all of them.
  const bool whole = scheme.per_tensor || scheme.levels == Levels::kVectors ||
                     (seen && (weight.groups > 1 || !seen->products.empty()));
  const int64_t step = whole ? weight.rows : std::max<int64_t>(1, kElements / std::max<int64_t>(1, weight.columns));
  EncodedWeight done{Coded(scheme, weight.rows, weight.columns)};
  const int64_t parts = (weight.rows + step - 1) / step;
  std::vector<Noise> noises(static_cast<size_t>(parts));
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Matrix values = load(weight, p * step, std::min(step, weight.rows - p * step));
      Coded part = encode(method, {values, scheme, seen, whole ? weight.groups : 1, rectified});
      noises[static_cast<size_t>(p)].add(values, part);
      if (parts == 1)
        done.coded = std::move(part);
      else
        put_rows(part, p * step, done.coded);
    }
  });
  Noise noise;  // in the order of the rows: the same on any number of threads
  for (const Noise& one : noises) noise.add(one);
  done.sqnr_db = noise.sqnr_db();
  done.finite = noise.finite;
  return done;
}

EncodedWeight with_sqnr(const Weight& weight, const Coded& coded) {
  Noise noise;
  noise.add(load(weight), coded);
  return {coded, noise.sqnr_db(), noise.finite};
}

}  // namespace mlopt::quantize
