#include "backends/cpu/row_dots.h"

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/row_dots.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

constexpr int kTogether = 8;  // rows or vectors whose sums are made at once, so that the units are never idle

/// The sum of the lanes of each of four vectors, scaled.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void store_sums(const V* sums, float scale, float* out) {
  for (int i = 0; i < 4; ++i) out[i] = scale * hn::GetLane(sums[i]);
}
#else
HWY_INLINE void store_sums(const V* sums, float scale, float* out) {
  const F d;
  const hn::RepartitionToWide<F> pairs;
  const hn::FixedTag<float, 4> four;
  const auto halved = [&](V a, V b)
                          HWY_ATTR { return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)); };
  const auto ab = hn::BitCast(pairs, halved(sums[0], sums[1])), cd = hn::BitCast(pairs, halved(sums[2], sums[3]));
  HWY_ALIGN float blocks[hn::MaxLanes(d)];  // of each four lanes, the four sums
  hn::Store(
      hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, ab, cd)), hn::BitCast(d, hn::InterleaveUpper(pairs, ab, cd))),
      d, blocks);
  auto all = hn::Load(four, blocks);
  for (size_t i = 4; i < hn::Lanes(d); i += 4) all = hn::Add(all, hn::Load(four, blocks + i));
  hn::StoreU(hn::Mul(all, hn::Set(four, scale)), four, out);
}
#endif

template <int kRows>
HWY_INLINE void dot(const float* x, const float* row, const RowsView& rows, float scale, float* out) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kRows];
  for (V& sum : sums) sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= rows.width; i += lanes) {
    const V factor = hn::LoadU(d, x + i);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(factor, hn::LoadU(d, row + r * rows.stride + i), sums[r]);
  }
  if (const auto rest = static_cast<size_t>(rows.width - i); rest > 0) {
    const V factor = load_n(x + i, rest);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(factor, load_n(row + r * rows.stride + i, rest), sums[r]);
  }
  if constexpr (kRows == 1) {
    *out = scale * hn::GetLane(hn::SumOfLanes(d, sums[0]));
  } else {
    HWY_UNROLL(2)
    for (int r = 0; r < kRows; r += 4) store_sums(sums + r, scale, out + r);
  }
}

void DotRows(const float* x, const RowsView& rows, float scale, float* out) {
  int64_t i = 0;
  for (; i + kTogether <= rows.count; i += kTogether)
    dot<kTogether>(x, rows.data + i * rows.stride, rows, scale, out + i);
  for (; i < rows.count; ++i) dot<1>(x, rows.data + i * rows.stride, rows, scale, out + i);
}

/// Columns from `at` on, `kVectors` vectors of them.
template <int kVectors>
HWY_INLINE void add_columns(const float* weights, const RowsView& rows, int64_t at, float* out) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kWays = kTogether / kVectors;
  V sums[kWays][kVectors];
  for (auto& way : sums)
    for (V& sum : way) sum = hn::Zero(d);
  const auto step = [&](int64_t row, int way) HWY_ATTR {
    const V factor = constant(weights[row]);
    const float* x = rows.data + row * rows.stride + at;
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) sums[way][v] = hn::MulAdd(factor, hn::LoadU(d, x + v * lanes), sums[way][v]);
  };
  int64_t row = 0;
  for (; row + kWays <= rows.count; row += kWays) {
    HWY_UNROLL(8)
    for (int way = 0; way < kWays; ++way) step(row + way, way);
  }
  for (; row < rows.count; ++row) step(row, 0);
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) {
    V sum = sums[0][v];
    HWY_UNROLL(8)
    for (int way = 1; way < kWays; ++way) sum = hn::Add(sum, sums[way][v]);
    float* to = out + at + v * lanes;
    hn::StoreU(hn::Add(hn::LoadU(d, to), sum), d, to);
  }
}

/// The columns that fill no vector.
void add_last_columns(const float* weights, const RowsView& rows, int64_t at, float* out) {
  const auto rest = static_cast<size_t>(rows.width - at);
  V sum = load_n(out + at, rest);
  for (int64_t row = 0; row < rows.count; ++row)
    sum = hn::MulAdd(constant(weights[row]), load_n(rows.data + row * rows.stride + at, rest), sum);
  store_n(sum, out + at, rest);
}

void AddWeightedRows(const float* weights, const RowsView& rows, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t at = 0;
  for (; at + 4 * lanes <= rows.width; at += 4 * lanes) add_columns<4>(weights, rows, at, out);
  for (; at + lanes <= rows.width; at += lanes) add_columns<1>(weights, rows, at, out);
  if (at < rows.width) add_last_columns(weights, rows, at, out);
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(DotRows);
HWY_EXPORT(AddWeightedRows);

void dot_rows(const float* x, const RowsView& rows, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(DotRows)(x, rows, scale, out);
}

void add_weighted_rows(const float* weights, const RowsView& rows, float* out) {
  HWY_DYNAMIC_DISPATCH(AddWeightedRows)(weights, rows, out);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
