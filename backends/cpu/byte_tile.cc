#include "backends/cpu/byte_tile.h"

#include <algorithm>
#include <cstring>
#include <limits>
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
constexpr int kRows = 12;  // x 2 vectors, and the 4 that they are made from: 28 of 32 registers
#else
constexpr int kRows = 6;  // x 2 vectors, and the 4 that they are made from: 16 registers
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

template <class W, int kVectors, int kTileRows>
void tile(const ByteTile& t) {
  const I32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Sums acc[kTileRows][kVectors];
  each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { acc[r][v] = hn::Zero(d); });
  const W* b = static_cast<const W*>(t.panel);
  for (int64_t s = 0; s < t.segment_count; ++s) {
    const int16_t* rows[kTileRows];
    each<kTileRows, 1>([&](int r, int) HWY_ATTR { rows[r] = t.rows[r] + t.segments[s]; });
    for (int64_t k = 0; k < 2 * t.pairs; k += 2, b += kVectors * 2 * lanes) {
      Pairs right[kVectors], left;
      each<1, kVectors>([&](int, int v) HWY_ATTR { right[v] = load_pairs(b + v * 2 * lanes); });
      each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR {
        if (v == 0) left = repeat_pair(rows[r] + k);
        acc[r][v] = add_pairs(left, right[v], acc[r][v]);
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
      const int16_t* x = t.rows[position + p] + block * 2 * lanes;
      const Pairs a = load_pairs(x + t.taps[2 * k]), b = load_pairs(x + t.taps[2 * k + 1]);
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

/// Whole numbers round(x), within the range of bytes whose zero point is `zero`, without it.
template <class T>
HWY_INLINE Sums to_steps(V x, int32_t zero) {
  const V low = constant(static_cast<float>(std::numeric_limits<T>::lowest() - zero));
  const V high = constant(static_cast<float>(std::numeric_limits<T>::max() - zero));
  return hn::NearestInt(hn::Min(hn::Max(x, low), high));
}

/// `count` bytes as numbers, the others anything.
template <class T>
HWY_INLINE Sums load_bytes(const T* x, int64_t count) {
  const hn::Rebind<T, F> narrow;
  if (count >= static_cast<int64_t>(hn::Lanes(F()))) return hn::PromoteTo(I32(), hn::LoadU(narrow, x));
  HWY_ALIGN T some[hn::MaxLanes(F())] = {};
  std::copy_n(x, count, some);
  return hn::PromoteTo(I32(), hn::LoadU(narrow, some));
}

/// out[0, count) of a vector.
template <class D, class Vector, class T>
HWY_INLINE void store_some(Vector v, D d, T* out, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, out);
  HWY_ALIGN T some[hn::MaxLanes(d)];
  hn::StoreU(v, d, some);
  std::copy_n(some, count, out);
}

/// The vector of scaled sums from column i on.
HWY_INLINE V scaled(const ByteFinish& f, const int32_t* sums, int64_t column, int64_t i) {
  const F d;
  return hn::MulAdd(hn::ConvertTo(d, hn::LoadU(I32(), sums + i)), hn::LoadU(d, f.factors + column + i),
                    hn::LoadU(d, f.offsets + column + i));
}

template <class T, bool kAdds>
HWY_INLINE void finish_bytes(const ByteFinish& f, const int32_t* sums, int64_t column, int64_t columns, int64_t at) {
  const F d;
  const hn::Rebind<T, F> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(f.out) + at;
  for (int64_t i = 0; i < columns; i += lanes) {
    Sums steps = to_steps<T>(scaled(f, sums, column, i), f.zero);
    int32_t zero = f.zero;
    if constexpr (kAdds) {
      const ByteFinish::Sum& s = *f.sum;
      zero = s.zero;
      const Sums other =
          hn::Sub(load_bytes(static_cast<const T*>(s.other.data) + at + i, columns - i), hn::Set(I32(), s.other_zero));
      const V total = hn::MulAdd(hn::ConvertTo(d, steps), constant(s.own_scale),
                                 hn::Mul(hn::ConvertTo(d, other), constant(s.other_scale)));
      steps = to_steps<T>(hn::Div(total, constant(s.scale)), zero);
    }
    store_some(hn::DemoteTo(narrow, hn::Add(steps, hn::Set(I32(), zero))), narrow, out + i, columns - i);
  }
}

void finish_row(const ByteFinish& f, const int32_t* sums, int64_t column, int64_t columns, int64_t at) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  switch (f.kind) {
    case ByteFinish::Kind::kSums:
      std::copy_n(sums, columns, static_cast<int32_t*>(f.out) + at);
      return;
    case ByteFinish::Kind::kFloats:
      for (int64_t i = 0; i < columns; i += lanes)
        store_some(scaled(f, sums, column, i), d, static_cast<float*>(f.out) + at + i, columns - i);
      return;
    case ByteFinish::Kind::kBytes:
      if (f.is_signed)
        return f.sum ? finish_bytes<int8_t, true>(f, sums, column, columns, at)
                     : finish_bytes<int8_t, false>(f, sums, column, columns, at);
      return f.sum ? finish_bytes<uint8_t, true>(f, sums, column, columns, at)
                   : finish_bytes<uint8_t, false>(f, sums, column, columns, at);
  }
}

void finish(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
            int64_t columns, int64_t at) {
  for (int64_t r = 0; r < rows; ++r) finish_row(f, sums + r * sums_stride, column, columns, at + r * f.stride);
}

template <class W, int kVectors, int... kIndex>
void fill(ByteKernels& k, std::integer_sequence<int, kIndex...>) {
  ((k.tile[sizeof(W) - 1][kVectors - 1][kIndex] = tile<W, kVectors, kIndex + 1>), ...);
}

void Kernels(ByteKernels& k) {
  const std::make_integer_sequence<int, kRows> rows;
  k.rows = kRows;
  k.lanes = static_cast<int>(hn::Lanes(I32()));
  k.width = k.lanes * ByteKernels::kVectors;
  fill<int8_t, 1>(k, rows);
  fill<int8_t, 2>(k, rows);
  fill<int16_t, 1>(k, rows);
  fill<int16_t, 2>(k, rows);
  k.depthwise = depthwise;
  k.widen = Widen;
  k.finish = finish;
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
