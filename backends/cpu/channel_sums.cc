#include "backends/cpu/channel_sums.h"

#include <algorithm>

#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/channel_sums.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// Elements that are summed in float32 before they go to double.
constexpr int64_t kBlock = 512;

struct Vectors {
  V x, squares, dy, product;

  HWY_INLINE void add(V value, V grad) {
    x = hn::Add(x, value);
    squares = hn::MulAdd(value, value, squares);
    dy = hn::Add(dy, grad);
    product = hn::MulAdd(value, grad, product);
  }
};

HWY_INLINE float total(V x) { return hn::GetLane(hn::SumOfLanes(F(), x)); }

/// Adds rows of `channels` neighbouring elements to the sums of each channel. `n` channels from the first, at most a
/// vector's lanes.
HWY_INLINE void SumColumn(const float* x, const float* dy, int64_t rows, int64_t channels, size_t n,
                          ChannelSums* sums) {
  const F d;
  HWY_ALIGN float shift[hn::MaxLanes(d)] = {}, lanes[hn::MaxLanes(d)];
  for (size_t k = 0; k < n; ++k) shift[k] = sums[k].shift;
  const V from = hn::Load(d, shift);
  for (int64_t r = 0; r < rows; r += kBlock) {
    const V zero = constant(0);
    Vectors v{zero, zero, zero, zero};
    for (int64_t i = r, end = std::min(rows, r + kBlock); i < end; ++i) {
      const V value = hn::Sub(load_n(x + i * channels, n), from);
      v.add(value, dy ? load_n(dy + i * channels, n) : zero);
    }
    const auto put = [&](V sum, double ChannelSums::*member) HWY_ATTR {
      hn::Store(sum, d, lanes);
      for (size_t k = 0; k < n; ++k) sums[k].*member += static_cast<double>(lanes[k]);
    };
    put(v.x, &ChannelSums::x);
    put(v.squares, &ChannelSums::squares);
    put(v.dy, &ChannelSums::dy);
    put(v.product, &ChannelSums::product);
  }
}

void SumRows(const float* x, const float* dy, int64_t rows, int64_t channels, ChannelSums* sums) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int64_t c = 0; c < channels; c += lanes)
    SumColumn(x + c, dy ? dy + c : nullptr, rows, channels, static_cast<size_t>(std::min(lanes, channels - c)),
              sums + c);
}

/// Adds `count` neighbouring elements of one channel.
void SumPlane(const float* x, const float* dy, int64_t count, ChannelSums& sums) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V from = constant(sums.shift);
  for (int64_t r = 0; r < count; r += kBlock * lanes) {
    const V zero = constant(0);
    Vectors v{zero, zero, zero, zero};
    for (int64_t i = r, end = std::min(count, r + kBlock * lanes); i < end; i += lanes) {
      const auto n = static_cast<size_t>(std::min(lanes, end - i));
      const V value = hn::IfThenElseZero(hn::FirstN(d, n), hn::Sub(load_n(x + i, n), from));
      v.add(value, dy ? load_n(dy + i, n) : zero);
    }
    sums.x += static_cast<double>(total(v.x));
    sums.squares += static_cast<double>(total(v.squares));
    sums.dy += static_cast<double>(total(v.dy));
    sums.product += static_cast<double>(total(v.product));
  }
}

void CombineRow(const Combination& f, const float* x, const float* dy, float* out, int64_t channels) {
  each_vector(0, channels, [&](int64_t c, size_t n) HWY_ATTR {
    const V rest = hn::MulAdd(load_n(f.b + c, n), load_n(x + c, n), load_n(f.c + c, n));
    store_n(hn::MulAdd(load_n(f.a + c, n), load_n(dy + c, n), rest), out + c, n);
  });
}

void CombinePlane(float a, float b, float c, const float* x, const float* dy, float* out, int64_t count) {
  const V va = constant(a), vb = constant(b), vc = constant(c);
  each_vector(0, count, [&](int64_t i, size_t n) HWY_ATTR {
    const V rest = hn::MulAdd(vb, load_n(x + i, n), vc);
    store_n(hn::MulAdd(va, load_n(dy + i, n), rest), out + i, n);
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(SumRows);
HWY_EXPORT(SumPlane);
HWY_EXPORT(CombineRow);
HWY_EXPORT(CombinePlane);

/// Parts whose sums are kept apart, however many threads there are.
constexpr int64_t kParts = 16;
constexpr int64_t kGrain = 8192;

void sum_channels_last(const Planes& p, const float* x, const float* dy, ChannelSums* sums) {
  const int64_t rows = p.count(), parts = rows * p.channels < kGrain ? 1 : kParts;
  std::vector<ChannelSums> all(static_cast<size_t>(parts * p.channels));
  for (int64_t i = 0; i < parts * p.channels; ++i) all[static_cast<size_t>(i)].shift = x[i % p.channels];
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = rows * part / parts, last = rows * (part + 1) / parts;
      HWY_DYNAMIC_DISPATCH(SumRows)
      (x + first * p.channels, dy ? dy + first * p.channels : nullptr, last - first, p.channels,
       all.data() + part * p.channels);
    }
  });
  for (int64_t c = 0; c < p.channels; ++c) {
    ChannelSums sum = all[static_cast<size_t>(c)];
    for (int64_t part = 1; part < parts; ++part) {
      const ChannelSums& more = all[static_cast<size_t>(part * p.channels + c)];
      sum.x += more.x, sum.squares += more.squares, sum.dy += more.dy, sum.product += more.product;
    }
    sums[c] = sum;
  }
}

}  // namespace

void channel_sums(const Planes& p, const float* x, const float* dy, ChannelSums* sums) {
  if (p.channels_last) return sum_channels_last(p, x, dy, sums);
  parallel_for(p.channels, std::max<int64_t>(1, kGrain / p.count()), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      sums[c] = ChannelSums{.shift = x[c * p.size]};
      for (int64_t n = 0; n < p.images; ++n) {
        const int64_t at = (n * p.channels + c) * p.size;
        HWY_DYNAMIC_DISPATCH(SumPlane)(x + at, dy ? dy + at : nullptr, p.size, sums[c]);
      }
    }
  });
}

void combine(const Planes& p, const Combination& f, const float* x, const float* dy, float* out) {
  if (p.channels_last) {
    parallel_for(p.count(), std::max<int64_t>(1, kGrain / p.channels), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * p.channels; i < end * p.channels; i += p.channels)
        HWY_DYNAMIC_DISPATCH(CombineRow)(f, x + i, dy + i, out + i, p.channels);
    });
    return;
  }
  parallel_for(p.images * p.channels, std::max<int64_t>(1, kGrain / p.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % p.channels, at = i * p.size;
      HWY_DYNAMIC_DISPATCH(CombinePlane)(f.a[c], f.b[c], f.c[c], x + at, dy + at, out + at, p.size);
    }
  });
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
