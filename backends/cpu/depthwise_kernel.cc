#include "backends/cpu/depthwise_kernel.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/depthwise_kernel.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// fn(column, vector) for each vector of a block: without a loop, so that all of them stay in registers.
template <int kColumns, int kVectors, class Fn>
HWY_INLINE void each(const Fn& fn) {
  HWY_UNROLL(8)
  for (int column = 0; column < kColumns; ++column) {
    HWY_UNROLL(2)
    for (int vector = 0; vector < kVectors; ++vector) fn(column, vector);
  }
}

/// What becomes of the sums of columns from `column` on and channels from `channel` on.
template <int kColumns, int kVectors>
HWY_INLINE void finish(const DepthwiseRow& t, int64_t column, int64_t channel, V (&sums)[kColumns][kVectors]) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t place = column * t.channels + channel;
  if (t.addend)
    each<kColumns, kVectors>([&](int c, int v) HWY_ATTR {
      sums[c][v] = hn::Add(sums[c][v], hn::LoadU(d, t.addend + place + c * t.channels + v * lanes));
    });
  if (t.activation) {
    HWY_ALIGN float all[kColumns * kVectors * hn::MaxLanes(d)];
    const auto at = [&](int c, int v) { return all + (c * kVectors + v) * lanes; };
    each<kColumns, kVectors>([&](int c, int v) HWY_ATTR { hn::Store(sums[c][v], d, at(c, v)); });
    apply_here(*t.activation, all, all, kColumns * kVectors * lanes);
    each<kColumns, kVectors>([&](int c, int v) HWY_ATTR { sums[c][v] = hn::Load(d, at(c, v)); });
  }
  const V low = constant(t.low), high = constant(t.high);
  each<kColumns, kVectors>([&](int c, int v) HWY_ATTR {
    hn::StoreU(limited(sums[c][v], low, high), d, t.out + place + c * t.channels + v * lanes);
  });
}

/// Taps side by side that lie on the input.
struct Taps {
  int64_t begin, end;
};

template <int kColumns, int kVectors>
HWY_INLINE void begin(const DepthwiseRow& t, int64_t channel, V (&sums)[kColumns][kVectors]) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  each<kColumns, kVectors>(
      [&](int c, int v) HWY_ATTR { sums[c][v] = t.bias ? hn::LoadU(d, t.bias + channel + v * lanes) : hn::Zero(d); });
}

/// Columns from `column` on, which have the same taps; `source(pixel, vector)` loads what a tap reads there.
template <int kColumns, int kVectors, class Source>
HWY_INLINE void any_taps(const DepthwiseRow& t, int64_t column, Taps side, int64_t channel, const Source& source) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kColumns][kVectors];
  begin(t, channel, sums);
  const int64_t step = t.src_column, src_tap = t.src_tap, channels = t.channels;
  const float* src = t.src + column * step + side.begin * src_tap;
  const float* taps = t.weights + side.begin * channels + channel;
  for (int64_t row = 0; row < t.rows; ++row, src += t.src_row, taps += t.weight_row) {
    const float *pixel = src, *weights = taps;
    for (int64_t tap = side.begin; tap < side.end; ++tap, pixel += src_tap, weights += channels) {
      V w[kVectors];
      each<1, kVectors>([&](int, int v) HWY_ATTR { w[v] = hn::LoadU(d, weights + v * lanes); });
      each<kColumns, kVectors>(
          [&](int c, int v) HWY_ATTR { sums[c][v] = hn::MulAdd(source(pixel + c * step, v), w[v], sums[c][v]); });
    }
  }
  finish<kColumns, kVectors>(t, column, channel, sums);
}

/// Columns of one vector, whose taps side by side are few: a pixel is loaded once for all of them. Unrolled by
/// templates rather than as loops, for GCC then keeps weights and sums in registers.
template <int kTaps, int kStride, int kColumns>
struct Sliding {
  V sums[kColumns][1];
  V w[kTaps];

  template <int kTap = 0>
  HWY_INLINE void load(const float* weights, int64_t channels) {
    w[kTap] = hn::LoadU(F(), weights);
    if constexpr (kTap + 1 < kTaps) load<kTap + 1>(weights + channels, channels);
  }

  /// What pixel x gives to the columns that it lies under.
  template <int kPixel, int kTap = 0>
  HWY_INLINE void add(V x) {
    constexpr int kFrom = kPixel - kTap;
    if constexpr (kFrom >= 0 && kFrom % kStride == 0 && kFrom / kStride < kColumns)
      sums[kFrom / kStride][0] = hn::MulAdd(x, w[kTap], sums[kFrom / kStride][0]);
    if constexpr (kTap + 1 < kTaps) add<kPixel, kTap + 1>(x);
  }

  /// All pixels from this one on, `step` apart; `is_inside(pixel)` tells of each.
  template <int kPixel = 0, class Source, class Inside>
  HWY_INLINE void add_row(const float* pixel, int64_t step, const Source& source, const Inside& is_inside) {
    if (is_inside(pixel)) add<kPixel>(source(pixel, 0));
    if constexpr (kPixel < (kColumns - 1) * kStride + kTaps - 1)
      add_row<kPixel + 1>(pixel + step, step, source, is_inside);
  }
};

/// The same for few taps, a column being kStride taps from the next. With `kEdge` those that lie outside the input are
/// left out.
template <int kTaps, int kStride, bool kEdge, int kColumns, class Source>
HWY_INLINE void few_taps(const DepthwiseRow& t, int64_t column, int64_t channel, const Source& source) {
  Sliding<kTaps, kStride, kColumns> all;
  begin(t, channel, all.sums);
  const int64_t place = column * t.src_column;
  const float *src = t.src, *weights = t.weights + channel;
  for (int64_t row = 0; row < t.rows; ++row, src += t.src_row, weights += t.weight_row) {
    all.load(weights, t.channels);
    const float *first = src - t.src_before, *end = src + t.src_after;
    all.add_row(src + place, t.src_tap, source,
                [=](const float* pixel) HWY_ATTR { return !kEdge || (pixel >= first && pixel < end); });
  }
  finish<kColumns, 1>(t, column, channel, all.sums);
}

/// How a block of columns is computed.
struct AnyTaps {
  static constexpr int kMostVectors = 2;
  Taps taps;

  template <int kColumns, int kVectors, class Source>
  HWY_INLINE void run(const DepthwiseRow& t, int64_t column, int64_t channel, const Source& source) const {
    any_taps<kColumns, kVectors>(t, column, taps, channel, source);
  }
};

template <int kTaps, int kStride, bool kEdge>
struct FewTaps {
  static constexpr int kMostVectors = 1;

  template <int kColumns, int kVectors, class Source>
  HWY_INLINE void run(const DepthwiseRow& t, int64_t column, int64_t channel, const Source& source) const {
    few_taps<kTaps, kStride, kEdge, kColumns>(t, column, channel, source);
  }
};

template <int kColumns, int kVectors, class Way>
HWY_INLINE void same_channels(const DepthwiseRow& t, const Way& way, int64_t column, int64_t channel) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto source = [=](const float* pixel, int v) HWY_ATTR { return hn::LoadU(d, pixel + channel + v * lanes); };
  way.template run<kColumns, kVectors>(t, column, channel, source);
}

/// Each channel of the source makes one.
struct Same {
  template <int kColumns, class Way>
  static HWY_INLINE void run(const DepthwiseRow& t, const Way& way, int64_t column) {
    constexpr int kVectors = Way::kMostVectors;
    const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
    int64_t channel = t.begin;
    for (; channel + kVectors * lanes <= t.end; channel += kVectors * lanes)
      same_channels<kColumns, kVectors>(t, way, column, channel);
    for (; channel < t.end; channel += lanes)
      same_channels<kColumns, 1>(t, way, column, std::min(channel, t.end - lanes));
  }
};

/// Each makes several.
struct Spread {
  template <int kColumns, class Way>
  static HWY_INLINE void run(const DepthwiseRow& t, const Way& way, int64_t column) {
    const F d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t channel = t.begin; channel < t.end; channel += lanes) {
      const int64_t vector = channel / lanes;
      const auto taken = hn::SetTableIndices(d, t.lanes + vector * lanes);
      const auto source = [=, first = t.first[vector]](const float* pixel, int)
                              HWY_ATTR { return hn::TableLookupLanes(hn::LoadU(d, pixel + first), taken); };
      way.template run<kColumns, 1>(t, column, std::min(channel, t.end - lanes), source);
    }
  }
};

/// Columns [column, end), as many at a time as there are registers for.
template <class Channels, int kTaps, int kStride, int kColumns>
HWY_INLINE void few_columns(const DepthwiseRow& t, int64_t column) {
  for (; column + kColumns <= t.columns; column += kColumns)
    if (column < t.left || column + kColumns > t.columns - t.right)
      Channels::template run<kColumns>(t, FewTaps<kTaps, kStride, true>(), column);
    else
      Channels::template run<kColumns>(t, FewTaps<kTaps, kStride, false>(), column);
  if constexpr (kColumns > 1) few_columns<Channels, kTaps, kStride, kColumns / 2>(t, column);
}

/// A column of whose taps some lie outside the input.
template <class Channels>
void edge(const DepthwiseRow& t, int64_t column) {
  const auto inside = [&](int64_t tap) {
    const int64_t place = column * t.src_column + tap * t.src_tap;
    return place >= -t.src_before && place < t.src_after;
  };
  Taps taps{0, t.taps};
  while (taps.begin < taps.end && !inside(taps.begin)) ++taps.begin;
  while (taps.begin < taps.end && !inside(taps.end - 1)) --taps.end;
  Channels::template run<1>(t, AnyTaps{taps}, column);
}

template <class Channels, int kColumns>
HWY_INLINE void inner_columns(const DepthwiseRow& t, int64_t column) {
  for (; column + kColumns <= t.columns - t.right; column += kColumns)
    Channels::template run<kColumns>(t, AnyTaps{{0, t.taps}}, column);
  if constexpr (kColumns > 1) inner_columns<Channels, kColumns / 2>(t, column);
}

/// Rows of pictures that are halved from 224 pixels are multiples of 7, those of others mostly of 8.
template <class Channels, int kTaps, int kStride>
void sliding_row(const DepthwiseRow& t) {
  t.columns % 7 == 0 ? few_columns<Channels, kTaps, kStride, 7>(t, 0) : few_columns<Channels, kTaps, kStride, 8>(t, 0);
}

template <class Channels>
void row(const DepthwiseRow& t) {
  const bool next = t.src_column == t.src_tap, second = t.src_column == 2 * t.src_tap;
  if (t.taps == 3 && next) return sliding_row<Channels, 3, 1>(t);
  if (t.taps == 3 && second) return sliding_row<Channels, 3, 2>(t);
  if (t.taps == 5 && next) return sliding_row<Channels, 5, 1>(t);
  if (t.taps == 5 && second) return sliding_row<Channels, 5, 2>(t);
  if (t.taps == 7 && next) return sliding_row<Channels, 7, 1>(t);
  for (int64_t column = 0; column < t.left; ++column) edge<Channels>(t, column);
  inner_columns<Channels, 6>(t, t.left);
  for (int64_t column = t.columns - t.right; column < t.columns; ++column) edge<Channels>(t, column);
}

void Kernels(DepthwiseKernels& k) {
  k.lanes = static_cast<int>(hn::Lanes(F()));
  k.row[0] = row<Same>;
  k.row[1] = row<Spread>;
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Kernels);

DepthwiseKernels depthwise_kernels() {
  DepthwiseKernels kernels;
  HWY_DYNAMIC_DISPATCH(Kernels)(kernels);
  return kernels;
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
