#include "backends/cpu/byte_tile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/byte_tile.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET <= HWY_AVX3
constexpr int kPairRows = 12, kQuadRows = 12;  // x 2 vectors, and the 5 that they are made from: 29 of 32 registers
#else
constexpr int kPairRows = 6, kQuadRows = 5;  // x 2 vectors, and the 4 or 5 that they are made from: 16 registers
#endif

using I32 = hn::Rebind<int32_t, F>;
using Sums = hn::Vec<I32>;

#if HWY_TARGET == HWY_SCALAR
struct Pairs {
  int16_t even, odd;
};
HWY_INLINE Sums add_pairs(Pairs a, Pairs b, Sums sums) {
  return hn::Add(sums, hn::Set(I32(), a.even * b.even + a.odd * b.odd));
}
template <class W>
HWY_INLINE Pairs load_pairs(const W* b) {
  return {b[0], b[1]};
}
HWY_INLINE Pairs repeat_pair(const int16_t* a) { return load_pairs(a); }

template <class T>
struct Four {
  T number[4];
};
using Quads = Four<uint8_t>;
using SignedQuads = Four<int8_t>;
HWY_INLINE Sums add_quads(Quads a, SignedQuads b, Sums sums) {
  int32_t total = 0;
  for (int i = 0; i < 4; ++i) total += a.number[i] * b.number[i];
  return hn::Add(sums, hn::Set(I32(), total));
}
HWY_INLINE SignedQuads load_quads(const int8_t* b) { return {{b[0], b[1], b[2], b[3]}}; }
HWY_INLINE Quads repeat_quad(const uint8_t* a) { return {{a[0], a[1], a[2], a[3]}}; }

HWY_INLINE Pairs interleave_lower(Pairs a, Pairs b) { return {a.even, b.even}; }
HWY_INLINE Pairs interleave_upper(Pairs a, Pairs b) { return {a.odd, b.odd}; }

template <class T>
HWY_INLINE void widen(const T* in, int64_t count, int32_t zero, int16_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(in[i] - zero);
}
#else
using I16 = hn::Repartition<int16_t, F>;
using Pairs = hn::Vec<I16>;

/// sums[i] + a[2i] b[2i] + a[2i + 1] b[2i + 1].
HWY_INLINE Sums add_pairs(Pairs a, Pairs b, Sums sums) {
#if HWY_ARCH_X86
  Sums unused = sums;
  return hn::ReorderWidenMulAccumulate(I32(), a, b, sums, unused);
#else
  const I32 d;
  const auto even = [&](Pairs v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, v))); };
  const auto odd = [&](Pairs v) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(d, v)); };
  return hn::Add(sums, hn::Add(hn::Mul(even(a), even(b)), hn::Mul(odd(a), odd(b))));
#endif
}

HWY_INLINE Pairs load_pairs(const int16_t* b) { return hn::LoadU(I16(), b); }
HWY_INLINE Pairs load_pairs(const int8_t* b) {
  const hn::Rebind<int8_t, I16> narrow;
  return hn::PromoteTo(I16(), hn::LoadU(narrow, b));
}
HWY_INLINE Pairs repeat_pair(const int16_t* a) {
  int32_t pair;
  std::memcpy(&pair, a, sizeof pair);
  return hn::BitCast(I16(), hn::Set(I32(), pair));
}

using Quads = hn::Vec<hn::Repartition<uint8_t, F> >;
using SignedQuads = hn::Vec<hn::Repartition<int8_t, F> >;

/// a[2i] b[2i] + a[2i + 1] b[2i + 1] in 16 bits.
HWY_INLINE Pairs multiply_pairs(Quads a, SignedQuads b) {
#if HWY_TARGET == HWY_AVX2
  return Pairs{_mm256_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
  return Pairs{_mm_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX3
  return Pairs{_mm512_maddubs_epi16(a.raw, b.raw)};
#else
  const I16 d;
  const hn::RebindToUnsigned<I16> u;
  const Pairs x = hn::BitCast(d, a), y = hn::BitCast(d, b);
  const Pairs even = hn::Mul(hn::And(x, hn::Set(d, 255)), hn::ShiftRight<8>(hn::ShiftLeft<8>(y)));
  return hn::Add(even, hn::Mul(hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(u, x))), hn::ShiftRight<8>(y)));
#endif
}
HWY_INLINE Sums add_quads(Quads a, SignedQuads b, Sums sums) {
  return add_pairs(multiply_pairs(a, b), hn::Set(I16(), int16_t{1}), sums);
}
HWY_INLINE SignedQuads load_quads(const int8_t* b) { return hn::LoadU(hn::Repartition<int8_t, F>(), b); }
HWY_INLINE Quads repeat_quad(const uint8_t* a) {
  int32_t quad;
  std::memcpy(&quad, a, sizeof quad);
  return hn::BitCast(hn::Repartition<uint8_t, F>(), hn::Set(I32(), quad));
}

HWY_INLINE Pairs interleave_lower(Pairs a, Pairs b) { return hn::InterleaveLower(I16(), a, b); }
HWY_INLINE Pairs interleave_upper(Pairs a, Pairs b) { return hn::InterleaveUpper(I16(), a, b); }

template <class T>
HWY_INLINE void widen(const T* in, int64_t count, int32_t zero, int16_t* out) {
  const I16 d;
  const hn::Rebind<T, I16> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const Pairs z = hn::Set(d, static_cast<int16_t>(zero));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, in + i)), z), d, out + i);
  for (; i < count; ++i) out[i] = static_cast<int16_t>(in[i] - zero);
}
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
template <class W>
struct PairSteps {
  using Weight = W;
  static constexpr int64_t kNeighbours = 2, kLeftBytes = 2;
  static HWY_INLINE Pairs weights(const W* b) { return load_pairs(b); }
  static HWY_INLINE Pairs left(const std::byte* a) { return repeat_pair(reinterpret_cast<const int16_t*>(a)); }
  static HWY_INLINE Sums add(Pairs a, Pairs b, Sums sums) { return add_pairs(a, b, sums); }
};
struct QuadSteps {
  using Weight = int8_t;
  static constexpr int64_t kNeighbours = 4, kLeftBytes = 1;
  static HWY_INLINE SignedQuads weights(const int8_t* b) { return load_quads(b); }
  static HWY_INLINE Quads left(const std::byte* a) { return repeat_quad(reinterpret_cast<const uint8_t*>(a)); }
  static HWY_INLINE Sums add(Quads a, SignedQuads b, Sums sums) { return add_quads(a, b, sums); }
};

template <class Steps, int kVectors, int kTileRows>
void tile(const ByteTile& t) {
  using Weight = typename Steps::Weight;
  const I32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kStep = Steps::kNeighbours * Steps::kLeftBytes;
  Sums acc[kTileRows][kVectors];
  each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { acc[r][v] = hn::LoadU(d, t.start + v * lanes); });
  const auto* b = static_cast<const Weight*>(t.panel);
  for (int64_t s = 0; s < t.segment_count; ++s) {
    const std::byte* rows[kTileRows];
    each<kTileRows, 1>([&](int r, int) HWY_ATTR { rows[r] = t.rows[r] + t.segments[s] + t.offset; });
    for (int64_t k = 0; k < kStep * t.steps; k += kStep, b += kVectors * Steps::kNeighbours * lanes) {
      decltype(Steps::weights(b)) right[kVectors];
      decltype(Steps::left(rows[0])) left;
      each<1, kVectors>([&](int, int v) HWY_ATTR { right[v] = Steps::weights(b + v * Steps::kNeighbours * lanes); });
      each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR {
        if (v == 0) left = Steps::left(rows[r] + k);
        acc[r][v] = Steps::add(left, right[v], acc[r][v]);
      });
    }
  }
  each<kTileRows, kVectors>([&](int r, int v)
                                HWY_ATTR { hn::StoreU(acc[r][v], d, t.sums + (r * kVectors + v) * lanes); });
}

/// Interleaving goes by 128 bits, so that `low` has every other 4 channels and `high` those between.
HWY_INLINE void store_in_order(Sums low, Sums high, int32_t* out) {
  const I32 d;
  constexpr size_t kTogether = std::min<size_t>(4, hn::MaxLanes(d));
  HWY_ALIGN int32_t apart[2][hn::MaxLanes(d)];
  hn::Store(low, d, apart[0]);
  hn::Store(high, d, apart[1]);
  for (size_t i = 0; i < hn::Lanes(d); i += kTogether) {
    std::copy_n(apart[0] + i, kTogether, out + 2 * i);
    std::copy_n(apart[1] + i, kTogether, out + 2 * i + kTogether);
  }
}

/// So many neighbouring positions, whose weights are loaded once.
template <int kPositions>
HWY_INLINE void depthwise_block(const DepthTile& t, int64_t block, int64_t position) {
  const I32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Sums low[kPositions], high[kPositions];
  each<kPositions, 1>([&](int p, int) HWY_ATTR { low[p] = high[p] = hn::Zero(d); });
  const int16_t* w = t.weights + block * t.pairs * 4 * lanes;
  for (int64_t k = 0; k < t.pairs; ++k, w += 4 * lanes) {
    const Pairs w_low = load_pairs(w), w_high = load_pairs(w + 2 * lanes);
    each<kPositions, 1>([&](int p, int) HWY_ATTR {
      const std::byte* x = t.rows[position + p] + block * 4 * lanes;
      const Pairs a = load_pairs(reinterpret_cast<const int16_t*>(x + t.taps[2 * k]));
      const Pairs b = load_pairs(reinterpret_cast<const int16_t*>(x + t.taps[2 * k + 1]));
      low[p] = add_pairs(interleave_lower(a, b), w_low, low[p]);
      high[p] = add_pairs(interleave_upper(a, b), w_high, high[p]);
    });
  }
  each<kPositions, 1>([&](int p, int) HWY_ATTR {
    store_in_order(low[p], high[p], t.sums + ((position + p) * t.blocks + block) * 2 * lanes);
  });
}

void depthwise(const DepthTile& t) {
  constexpr int kTogether = 4;
  for (int64_t block = 0; block < t.blocks; ++block) {
    int64_t i = 0;
    for (; i + kTogether <= t.positions; i += kTogether) depthwise_block<kTogether>(t, block, i);
    for (; i < t.positions; ++i) depthwise_block<1>(t, block, i);
  }
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
  fill<PairSteps<int8_t>, kPairRows>(k, ByteForm::kPairs);
  fill<PairSteps<int16_t>, kPairRows>(k, ByteForm::kWidePairs);
  fill<QuadSteps, kQuadRows>(k, ByteForm::kQuads);
  k.depthwise = depthwise;
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
