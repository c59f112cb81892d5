#include "backends/cpu/byte_tile.h"

#include <type_traits>
#include <utility>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/byte_tile.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/byte-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET <= HWY_AVX3
constexpr int kPairRows = 12, kQuadRows = 12;  // x 2 vectors, and the 5 that they are made from: 29 of 32 registers
#else
constexpr int kPairRows = 6, kQuadRows = 5;  // x 2 vectors, and the 4 or 5 that they are made from: 16 registers
#endif

/// fn(row, vector) for each vector of a tile: without a loop, so that all of them stay in registers.
template <int kTileRows, int kVectors, class Fn>
HWY_INLINE void each(const Fn& fn) {
  HWY_UNROLL(64)
  for (int row = 0; row < kTileRows; ++row) {
    HWY_UNROLL(2)
    for (int vector = 0; vector < kVectors; ++vector) fn(row, vector);
  }
}

/// What one step of the inner axis does.
struct PairSteps {
  using Weight = int16_t;
  static constexpr int64_t kNeighbours = 2;
  static constexpr bool kHasTwos = false;
  static HWY_INLINE Pairs weights(const int16_t* b) { return load_pairs(b); }
  static HWY_INLINE Pairs left(const std::byte* a) { return repeat_pair(reinterpret_cast<const int16_t*>(a)); }
  static HWY_INLINE Sums add(Pairs a, Pairs b, Sums sums) { return add_pairs(a, b, sums); }
};
struct QuadSteps {
  using Weight = int8_t;
  static constexpr int64_t kNeighbours = 4;
  static constexpr bool kHasTwos = true;
  static HWY_INLINE SignedQuads weights(const int8_t* b) { return load_quads(b); }
  static HWY_INLINE Quads left(const std::byte* a) { return repeat_quad(reinterpret_cast<const uint8_t*>(a)); }
  static HWY_INLINE Sums add(Quads a, SignedQuads b, Sums sums) { return widen_pairs(multiply_pairs(a, b), sums); }
};

template <class Steps, int kVectors, int kTileRows>
void tile(const ByteTile& t) {
  const I32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t vector = Steps::kNeighbours * lanes;
  Sums acc[kTileRows][kVectors];
  const std::byte* rows[kTileRows];
  each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { acc[r][v] = hn::LoadU(d, t.start + v * lanes); });
  each<kTileRows, 1>([&](int r, int) HWY_ATTR { rows[r] = t.rows[r] + t.offset; });
  const auto* b = static_cast<const typename Steps::Weight*>(t.panel);
  const int32_t* at = t.offsets;
  if constexpr (Steps::kHasTwos)
    for (int64_t k = 0; k < t.twos; ++k, at += 2, b += 2 * kVectors * vector) {
      const int64_t first = at[0], second = at[1];
      each<kTileRows, 1>([&](int r, int) HWY_ATTR {
        const auto left0 = Steps::left(rows[r] + first), left1 = Steps::left(rows[r] + second);
        each<1, kVectors>([&](int, int v) HWY_ATTR {
          acc[r][v] = widen_pairs(add(multiply_pairs(left0, Steps::weights(b + v * vector)),
                                      multiply_pairs(left1, Steps::weights(b + (kVectors + v) * vector))),
                                  acc[r][v]);
        });
      });
    }
  for (int64_t k = 0; k < t.ones; ++k, ++at, b += kVectors * vector) {
    const int64_t first = *at;
    each<kTileRows, 1>([&](int r, int) HWY_ATTR {
      const auto left = Steps::left(rows[r] + first);
      each<1, kVectors>([&](int, int v)
                            HWY_ATTR { acc[r][v] = Steps::add(left, Steps::weights(b + v * vector), acc[r][v]); });
    });
  }
  each<kTileRows, kVectors>([&](int r, int v)
                                HWY_ATTR { hn::StoreU(acc[r][v], d, t.sums + (r * kVectors + v) * lanes); });
}

/// So many neighbouring positions and vectors of channels, whose weights are loaded once.
template <int kPositions, int kVectors>
void depthwise_block(const DepthTile& t, int64_t vector, int64_t position) {
  const I32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t pairs = t.pairs, next_weights = pairs * 2 * lanes, next = t.step / 2;
  const int64_t at = position * next + vector * 2 * lanes;
  Sums acc[kPositions][kVectors];
  each<kPositions, kVectors>([&](int p, int v) HWY_ATTR { acc[p][v] = hn::LoadU(d, t.start + (vector + v) * lanes); });
  const int16_t* w = t.weights + vector * next_weights;
  for (int64_t k = 0; k < pairs; ++k, w += 2 * lanes) {
    const auto* x = reinterpret_cast<const int16_t*>(t.taps[k]) + at;
    each<1, kVectors>([&](int, int v) HWY_ATTR {
      const Pairs weights = load_pairs(w + v * next_weights);
      each<kPositions, 1>([&](int p, int) HWY_ATTR {
        acc[p][v] = add_pairs(load_pairs(x + p * next + v * 2 * lanes), weights, acc[p][v]);
      });
    });
  }
  const int64_t row = t.vectors * lanes;
  int32_t* sums = t.sums + position * row + vector * lanes;
  each<kPositions, kVectors>([&](int p, int v) HWY_ATTR { hn::StoreU(acc[p][v], d, sums + p * row + v * lanes); });
}

template <int kVectors>
void depthwise_vectors(const DepthTile& t, int64_t vector) {
  constexpr int64_t kTogether = 4;
  constexpr void (*kBlocks[])(const DepthTile&, int64_t, int64_t) = {
      depthwise_block<1, kVectors>, depthwise_block<2, kVectors>, depthwise_block<3, kVectors>,
      depthwise_block<4, kVectors>};
  const int64_t blocks = (t.positions + kTogether - 1) / kTogether;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t first = t.positions * i / blocks, last = t.positions * (i + 1) / blocks;
    kBlocks[last - first - 1](t, vector, first);
  }
}

void depthwise(const DepthTile& t) {
  int64_t vector = 0;
  for (; vector + 2 <= t.vectors; vector += 2) depthwise_vectors<2>(t, vector);
  if (vector < t.vectors) depthwise_vectors<1>(t, vector);
}

template <class T>
HWY_INLINE void pair_up(const NeighbourPixels& p) {
  const I32 d;
  const hn::Rebind<T, I32> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t channels = p.channels, step = p.step;
  const auto *x = reinterpret_cast<const T*>(p.first), *y = reinterpret_cast<const T*>(p.second);
  int32_t* out = p.out;
  for (int64_t i = p.count; i > 0; --i, x += step, y += step, out += channels)
    for (int64_t c = 0; c < channels; c += lanes) {
      const Sums first = hn::PromoteTo(d, hn::LoadU(narrow, x + c)),
                 second = hn::PromoteTo(d, hn::LoadU(narrow, y + c));
      const Sums low = std::is_signed_v<T> ? hn::And(first, hn::Set(d, 0xFFFF)) : first;
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(second)), d, out + c);
    }
}

void PairUp(const NeighbourPixels& p) {
  if (p.is_signed)
    pair_up<int8_t>(p);
  else
    pair_up<uint8_t>(p);
}

void Widen(Bytes in, int64_t count, int32_t zero, int16_t* out) {
  if (in.is_signed)
    widen(static_cast<const int8_t*>(in.data), count, zero, out);
  else
    widen(static_cast<const uint8_t*>(in.data), count, zero, out);
}

template <class Steps, int kVectors, int... kIndex>
void fill(ByteKernels& k, ByteForm form, std::integer_sequence<int, kIndex...>) {
  ((k.tile[static_cast<int>(form)][kVectors - 1][kIndex] = tile<Steps, kVectors, kIndex + 1>), ...);
}

template <class Steps, int kRows>
void fill(ByteKernels& k, ByteForm form) {
  const std::make_integer_sequence<int, kRows> rows;
  k.rows[static_cast<int>(form)] = kRows;
  fill<Steps, 1>(k, form, rows);
  fill<Steps, 2>(k, form, rows);
}

void Kernels(ByteKernels& k) {
  k.lanes = static_cast<int>(hn::Lanes(I32()));
  k.width = k.lanes * ByteKernels::kVectors;
  fill<PairSteps, kPairRows>(k, ByteForm::kPairs);
  fill<QuadSteps, kQuadRows>(k, ByteForm::kQuads);
  k.depthwise = depthwise;
  k.pair_up = PairUp;
  k.widen = Widen;
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Kernels);

ByteKernels byte_kernels() {
  ByteKernels kernels;
  HWY_DYNAMIC_DISPATCH(Kernels)(kernels);
  return kernels;
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
