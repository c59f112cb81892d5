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
#include "quantize/kept_numbers.h"

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

using Lanes = std::array<float, kLanes>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Numbers outside are further than half a step from what the outermost codes stand for: they are clipped.
struct Bounds {
  float low = -kInfinity, high = kInfinity;

  Bounds() = default;
  explicit Bounds(const Alphabet& a) {
    constexpr float kHalf = 0.501f;  // and what rounding of scales adds
    const auto value = [&](int code) { return a.value(static_cast<uint8_t>(code)); };
    const float least = value(0), most = value(a.most);
    int second = 1, before = a.most - 1;  // tables may repeat their ends
    while (second < a.most && value(second) == least) ++second;
    while (before > 0 && value(before) == most) --before;
    low = least - kHalf * (value(second) - least);
    high = most + kHalf * (most - value(before));
  }
};

/// Of numbers and of what is lost of them, side by side.
struct Sums {
  std::array<double, kLanes> signal{}, noise{};  // squares of floats are out of the range of floats
  Lanes low, high;
  std::array<uint32_t, kLanes> lost{}, clipped{};  ///< lost not 0: a number was not finite

  Sums() { low.fill(kInfinity), high.fill(-kInfinity); }

  void add(size_t i, float x, float value, const Bounds& bounds) {
    const float off = x - value;
    const uint32_t keep = finite_mask(off);
    const float number = masked(x, keep), kept = masked(off, keep);
    signal[i] += static_cast<double>(number) * static_cast<double>(number);
    noise[i] += static_cast<double>(kept) * static_cast<double>(kept);
    lost[i] |= ~keep;
    low[i] = number < low[i] ? number : low[i];
    high[i] = number > high[i] ? number : high[i];
    clipped[i] += static_cast<uint32_t>(number < bounds.low) | static_cast<uint32_t>(number > bounds.high);
  }
  void add(const Lanes& numbers, const Lanes& values, const Bounds& bounds) {
    for (size_t i = 0; i < kLanes; ++i) add(i, numbers[i], values[i], bounds);
  }

  /// kLanes numbers in uniform levels: sizes that compilers know.
  void add(const float* from, const uint8_t* codes, int zero, float scale, const Bounds& bounds) {
    Lanes numbers, values;
    std::array<uint8_t, kLanes> part;
    std::memcpy(numbers.data(), from, sizeof numbers);
    std::memcpy(part.data(), codes, sizeof part);
    for (size_t i = 0; i < kLanes; ++i) values[i] = static_cast<float>(part[i] - zero) * scale;
    add(numbers, values, bounds);
  }

  void add(std::span<const float> x, const uint8_t* codes, const Alphabet& alphabet) {
    const Bounds bounds(alphabet);
    size_t i = 0;
    if (alphabet.table.empty())
      for (; i + kLanes <= x.size(); i += kLanes) add(x.data() + i, codes + i, alphabet.zero, alphabet.scale, bounds);
    for (; i + kLanes <= x.size(); i += kLanes) {
      Lanes numbers, values;
      std::memcpy(numbers.data(), x.data() + i, sizeof numbers);
      for (size_t k = 0; k < kLanes; ++k) values[k] = alphabet.table[codes[i + k]];
      for (float& value : values) value *= alphabet.scale;
      add(numbers, values, bounds);
    }
    for (; i < x.size(); ++i) add(i % kLanes, x[i], alphabet.value(codes[i]), bounds);
  }
};

/// Signal, noise and reach of what was encoded so far.
struct Noise {
  double signal = 0, noise = 0, clipped = 0;
  float low = kInfinity, high = -kInfinity;
  bool finite = true;

  void add(const Matrix& values, const Coded& coded) {
    if (coded.levels == Levels::kVectors) return add(values, decode(coded));
    for (int64_t r = 0; r < values.rows; ++r) {
      Sums sums;
      for (int64_t first = 0; first < values.columns; first += coded.group) {
        const auto x = values.row(r).subspan(static_cast<size_t>(first));
        sums.add(x.first(static_cast<size_t>(std::min(coded.group, values.columns - first))),
                 coded.codes.data() + r * coded.columns + first, coded.alphabet(coded.alphabet_at(r, first)));
      }
      add(sums);
    }
  }
  void add(const Matrix& values, const Matrix& decoded) {
    for (int64_t r = 0; r < values.rows; ++r) {
      Sums sums;
      for (int64_t c = 0; c < values.columns; ++c)
        sums.add(static_cast<size_t>(c) % kLanes, values.at(r, c), decoded.at(r, c), Bounds());
      add(sums);
    }
  }
  void add(const Sums& sums) {
    signal += std::accumulate(sums.signal.begin(), sums.signal.end(), 0.0);
    noise += std::accumulate(sums.noise.begin(), sums.noise.end(), 0.0);
    clipped += std::accumulate(sums.clipped.begin(), sums.clipped.end(), 0.0);
    low = std::min(low, *std::min_element(sums.low.begin(), sums.low.end()));
    high = std::max(high, *std::max_element(sums.high.begin(), sums.high.end()));
    finite = finite && std::all_of(sums.lost.begin(), sums.lost.end(), [](uint32_t m) { return m == 0; });
  }
  void add(const Kept& kept) {
    for (const float x : kept.numbers) {
      signal += static_cast<double>(x) * static_cast<double>(x);
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  void add(const Noise& other) {
    signal += other.signal;
    noise += other.noise;
    clipped += other.clipped;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    finite = finite && other.finite;
  }
  double sqnr_db() const {
    constexpr double kDecibels = 10;
    return noise > 0 ? kDecibels * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
  }
  void tell(int64_t numbers, EncodedWeight& of) const {
    of.sqnr_db = sqnr_db();
    of.finite = finite;
    if (numbers == 0) return;
    of.coverage = {static_cast<double>(low), static_cast<double>(high), clipped / static_cast<double>(numbers)};
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
  const Kept kept = scheme.kept > 0 ? largest_numbers(weight, scheme.kept, seen) : Kept{};
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      Matrix values = load(weight, p * step, std::min(step, weight.rows - p * step));
      take_out(kept, p * step, values);
      Coded part = encode(method, {values, scheme, seen, whole ? weight.groups : 1, rectified});
      noises[static_cast<size_t>(p)].add(values, part);
      if (parts == 1)
        done.coded = std::move(part);
      else
        put_rows(part, p * step, done.coded);
    }
  });
  done.coded.kept = kept;
  Noise noise;  // in the order of the rows: the same on any number of threads
  for (const Noise& one : noises) noise.add(one);
  noise.add(kept);
  noise.tell(weight.size(), done);
  return done;
}

EncodedWeight with_sqnr(const Weight& weight, const Coded& coded) {
  Noise noise;
  noise.add(load(weight), coded);
  EncodedWeight done{coded};
  noise.tell(weight.size(), done);
  return done;
}

}  // namespace mlopt::quantize
