#include "backends/cpu/product_kernel.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/product_kernel.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET <= HWY_AVX3
constexpr int kRows = 14;  // x 2 vectors, and the 3 that they are made from: 31 of 32 registers
#else
constexpr int kRows = 6;  // x 2 vectors, and the 3 that they are made from: 15 of 16 registers
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

/// Steps along the inner axis without a branch, so that the units do little else than multiply: more of them, and the
/// compiler keeps sums in memory.
constexpr int kUnrolled = 2;

/// How many neighbours of the inner axis a tile of so many vectors sums apart: one chain of additions for each element
/// would leave the units idle where there are few.
constexpr int ways_for(int vectors) { return vectors >= 8 ? 1 : vectors >= 4 ? 2 : 4; }

/// The products of a tile, in sums[0].
template <bool kPacked, int kWays, int kTileRows, int kVectors>
HWY_INLINE void multiply(const Tile& t, V (&sums)[kWays][kTileRows][kVectors]) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t row = kPacked ? 1 : t.a.row_stride, step = kPacked ? kTileRows : t.a.column_stride;
  const float *a, *b = t.b, *ahead = t.ahead;
  const auto add = [&](int ahead_of_k) HWY_ATTR {
    const float *left = a + ahead_of_k * step, *right = b + ahead_of_k * kVectors * lanes;
    V columns[kVectors], element;
    each<1, kVectors>([&](int, int v) HWY_ATTR { columns[v] = hn::LoadU(d, right + v * lanes); });
    each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR {
      if (v == 0) element = hn::Set(d, left[r * row]);
      V& sum = sums[ahead_of_k % kWays][r][v];
      sum = hn::MulAdd(element, columns[v], sum);
    });
  };
  each<kWays * kTileRows, kVectors>([&](int i, int v)
                                        HWY_ATTR { sums[i / kTileRows][i % kTileRows][v] = hn::Zero(d); });
  for (int64_t piece = 0; piece < t.pieces; ++piece) {
    a = t.a.data + piece * t.piece_stride;
    int64_t k = 0;
    for (; k + kUnrolled <= t.depth; k += kUnrolled) {
      __builtin_prefetch(ahead, 0, 2);  // into the second cache: the first one is full
      each<kUnrolled, 1>([&](int i, int) HWY_ATTR {
        add(i);
        HWY_FENCE;
      });
      a += kUnrolled * step;
      b += kUnrolled * kVectors * lanes;
      ahead += kUnrolled * ProductKernels::kAhead;
    }
    for (; k < t.depth; ++k, a += step, b += kVectors * lanes) add(0);
  }
  each<(kWays - 1) * kTileRows, kVectors>([&](int i, int v) HWY_ATTR {
    V& sum = sums[0][i % kTileRows][v];
    sum = hn::Add(sum, sums[1 + i / kTileRows][i % kTileRows][v]);
  });
}

/// One vector of the panel's columns; the last ones may be missing.
template <bool kFull>
struct Columns {
  size_t count[ProductKernels::kVectors];

  explicit Columns(const Tile& t) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
    for (int v = 0; v < ProductKernels::kVectors; ++v)
      count[v] = static_cast<size_t>(std::clamp<int64_t>(t.columns - v * lanes, 0, lanes));
  }
  HWY_INLINE V load(const float* p, int v) const {
    const F d;
    p += static_cast<size_t>(v) * hn::Lanes(d);
    return kFull ? hn::LoadU(d, p) : load_n(p, count[v]);
  }
  HWY_INLINE void store(V x, float* p, int v) const {
    const F d;
    p += static_cast<size_t>(v) * hn::Lanes(d);
    if (kFull)
      hn::StoreU(x, d, p);
    else
      store_n(x, p, count[v]);
  }
};

/// c = activation(alpha acc + beta base + bias)
template <bool kFull, int kTileRows, int kVectors>
HWY_INLINE void finish(const Tile& t, V (&acc)[kTileRows][kVectors]) {
  const F d;
  const auto panel = static_cast<int64_t>(kVectors * hn::Lanes(d));
  const Columns<kFull> columns(t);
  const V alpha = constant(t.alpha), beta = constant(t.beta);
  each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { acc[r][v] = hn::Mul(alpha, acc[r][v]); });
  if (t.base)
    each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR {
      acc[r][v] = hn::MulAdd(beta, columns.load(t.base + r * t.base_stride, v), acc[r][v]);
    });
  if (t.bias)
    each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { acc[r][v] = hn::Add(acc[r][v], columns.load(t.bias, v)); });
  if (t.limited) {
    const V low = constant(t.low), high = constant(t.high);
    each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { acc[r][v] = limited(acc[r][v], low, high); });
  }
  if (!t.activation) {
    each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR { columns.store(acc[r][v], t.c + r * t.c_stride, v); });
    return;
  }
  HWY_ALIGN float rows[kTileRows * kVectors * hn::MaxLanes(d)];
  each<kTileRows, kVectors>([&](int r, int v) HWY_ATTR {
    hn::StoreU(acc[r][v], d, rows + r * panel + v * static_cast<int64_t>(hn::Lanes(d)));
  });
  apply_here(*t.activation, rows, rows, kTileRows * panel);
  for (int64_t r = 0; r < kTileRows; ++r) std::copy_n(rows + r * panel, t.columns, t.c + r * t.c_stride);
}

template <bool kPacked, int kVectors, int kTileRows>
void tile(const Tile& t) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t panel = kVectors * lanes;
  each<kTileRows, 1>([&](int r, int) HWY_ATTR {  // a row may lie across two lines
    __builtin_prefetch(t.c + r * t.c_stride, 1, 3);
    __builtin_prefetch(t.c + r * t.c_stride + panel - 1, 1, 3);
  });
  // In the last panel of a matrix, which may be narrower, as in the others: equal columns give equal sums.
  V acc[ways_for(kTileRows * ProductKernels::kVectors)][kTileRows][kVectors];
  multiply<kPacked>(t, acc);
  if (t.columns == panel)
    finish<true>(t, acc[0]);
  else
    finish<false>(t, acc[0]);
}

template <bool kPacked, int kVectors, int... kIndex>
void fill(ProductKernels& k, std::integer_sequence<int, kIndex...>) {
  ((k.tile[kPacked][kVectors - 1][kIndex] = tile<kPacked, kVectors, kIndex + 1>), ...);
}

/// Lines whose neighbours along the depth lie apart but which lie side by side: copied.
void pack_side_by_side(const float* in, int64_t depth_stride, int64_t lines, int64_t depth, float* out,
                       int64_t out_stride) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t k = 0; k < depth; ++k, in += depth_stride, out += out_stride) {
    __builtin_prefetch(in + 8 * depth_stride);
    int64_t i = 0;
    for (; i + lanes <= lines; i += lanes) hn::StoreU(hn::LoadU(d, in + i), d, out + i);
    for (; i < lines; ++i) out[i] = in[i];
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Up to 4 lines that lie one after the other: 4 x 4 elements at a time. Missing lines repeat the last one, and so
/// something is written beyond the place of the others.
void pack_four(const float* in, int64_t line_stride, int64_t lines, int64_t depth, float* out, int64_t out_stride) {
  const hn::Full128<float> d;
  const auto line = [&](int64_t i) { return in + std::min(i, lines - 1) * line_stride; };
  const float *in0 = line(0), *in1 = line(1), *in2 = line(2), *in3 = line(3);
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4, out += 4 * out_stride) {
    __builtin_prefetch(in + (4 + k / 4 % 4) * line_stride + k);  // the next 4 lines
    const auto v0 = hn::LoadU(d, in0 + k), v1 = hn::LoadU(d, in1 + k);
    const auto v2 = hn::LoadU(d, in2 + k), v3 = hn::LoadU(d, in3 + k);
    const auto low01 = hn::InterleaveLower(d, v0, v1), high01 = hn::InterleaveUpper(d, v0, v1);
    const auto low23 = hn::InterleaveLower(d, v2, v3), high23 = hn::InterleaveUpper(d, v2, v3);
    hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, out);
    hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, out + out_stride);
    hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, out + 2 * out_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, out + 3 * out_stride);
  }
  for (; k < depth; ++k, out += out_stride)
    for (int64_t i = 0; i < lines; ++i) out[i] = in[i * line_stride + k];
}

/// Lines that lie one after the other. The last ones are packed first: what that writes beyond them is then repaired.
void pack_one_by_one(const float* in, int64_t line_stride, int64_t lines, int64_t depth, float* out,
                     int64_t out_stride) {
  for (int64_t line = (lines - 1) / 4 * 4; line >= 0; line -= 4)
    pack_four(in + line * line_stride, line_stride, std::min<int64_t>(4, lines - line), depth, out + line, out_stride);
}
#endif

void pack(const float* in, int64_t line_stride, int64_t depth_stride, int64_t lines, int64_t depth, float* out,
          int64_t out_stride) {
  if (lines < out_stride) std::fill_n(out, depth * out_stride, 0.0f);
  if (line_stride == 1) return pack_side_by_side(in, depth_stride, lines, depth, out, out_stride);
#if HWY_TARGET != HWY_SCALAR
  if (depth_stride == 1) return pack_one_by_one(in, line_stride, lines, depth, out, out_stride);
#endif
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t line = 0; line < lines; ++line) out[k * out_stride + line] = in[line * line_stride + k * depth_stride];
}

void Kernels(ProductKernels& k) {
  const std::make_integer_sequence<int, kRows> rows;
  k.rows = kRows;
  k.lanes = static_cast<int>(hn::Lanes(F()));
  k.width = k.lanes * ProductKernels::kVectors;
  fill<false, 1>(k, rows);
  fill<false, 2>(k, rows);
  fill<true, 1>(k, rows);
  fill<true, 2>(k, rows);
  k.pack = pack;
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Kernels);

ProductKernels product_kernels() {
  ProductKernels kernels;
  HWY_DYNAMIC_DISPATCH(Kernels)(kernels);
  return kernels;
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
