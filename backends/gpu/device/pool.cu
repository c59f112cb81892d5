// Pools over one to three spatial axes.
#include "backends/gpu/device/kernels.h"
#include "backends/gpu/device/power.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Pool {
  PoolArgs args;
  Divider by_inner, by_positions, by_row, by_column;

  /// The taps of axis k at output `o` that lie on the input, and how many lie on it or its padding.
  struct Span {
    int first, last, counted;
  };
  MLOPT_DEVICE Span span(int k, int o) const {
    const Windows& w = args.windows;
    const int start = o * w.stride[k] - w.before[k];
    Span s{w.kernel[k], -1, 0};
    for (int tap = 0; tap < w.kernel[k]; ++tap) {
      const int at = start + tap * w.dilation[k];
      s.counted += at < w.in[k] + args.after[k];
      if (at < 0 || at >= w.in[k]) continue;
      if (tap < s.first) s.first = tap;
      s.last = tap;
    }
    return s;
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Windows& w = args.windows;
    const uint32_t place = by_inner.quotient(i);
    const uint32_t plane = by_positions.quotient(place), position = place - plane * by_positions.divisor;
    const uint32_t d = by_row.quotient(position), rest = position - d * by_row.divisor;
    const uint32_t h = by_column.quotient(rest);
    const int at[3] = {static_cast<int>(d), static_cast<int>(h), static_cast<int>(rest - h * by_column.divisor)};
    const Span spans[3] = {span(0, at[0]), span(1, at[1]), span(2, at[2])};
    const T* x = static_cast<const T*>(args.in) +
                 static_cast<int64_t>(plane) * w.in[0] * w.in[1] * w.in[2] * args.inner +
                 (i - place * by_inner.divisor);
    const bool max = args.kind == PoolKind::kMax, norm = args.kind == PoolKind::kNorm;
    float result = max ? lowest() : 0;
    int taken = 0;
    int64_t best = -1;
    for (int a = spans[0].first; a <= spans[0].last; ++a)
      for (int b = spans[1].first; b <= spans[1].last; ++b)
        for (int c = spans[2].first; c <= spans[2].last; ++c) {
          const int row = (at[0] * w.stride[0] - w.before[0] + a * w.dilation[0]) * w.in[1] + at[1] * w.stride[1] -
                          w.before[1] + b * w.dilation[1];
          const int64_t tap =
              static_cast<int64_t>(row) * w.in[2] + at[2] * w.stride[2] - w.before[2] + c * w.dilation[2];
          const float v = static_cast<float>(widen(x[tap * args.inner]));
          if (max && (best < 0 || v > result || (v != v && result == result))) best = tap;
          result = max ? (v > result || v != v ? v : result) : result + (norm ? power(v, args.exponent) : v);
          ++taken;
        }
    if (args.kind == PoolKind::kAverageWithPadding) taken = spans[0].counted * spans[1].counted * spans[2].counted;
    if (norm)
      result = root(result, args.exponent);
    else if (!max)
      result /= static_cast<float>(taken > 0 ? taken : 1);  // a window on nothing but padding gives 0
    static_cast<T*>(args.out)[i] = narrow<T>(static_cast<Wide<T>>(result));
    if (args.places) args.places[i] = static_cast<int64_t>(plane) * w.in[0] * w.in[1] * w.in[2] + counted(best);
  }

  /// What the largest of no elements is.
  static MLOPT_DEVICE float lowest() {
    if constexpr (std::is_integral_v<T>)
      return std::numeric_limits<T>::lowest();
    else
      return -std::numeric_limits<float>::infinity();
  }

  /// Place `tap` of a plane as it is counted.
  MLOPT_DEVICE int64_t counted(int64_t tap) const {
    const Windows& w = args.windows;
    if (!args.column_by_column || tap < 0) return tap;
    const int64_t row = tap / w.in[2], column = tap - row * w.in[2], d = row / w.in[1];
    return (column * w.in[1] + (row - d * w.in[1])) * w.in[0] + d;
  }
};

}  // namespace

Status pool(Queue& queue, const PoolArgs& args) {
  const Windows& w = args.windows;
  const int positions = w.out[0] * w.out[1] * w.out[2];
  const auto run = [&](auto one) {
    return for_each(queue, args.planes * positions * args.inner,
                    Pool<decltype(one)>{args, Divider(args.inner), Divider(positions), Divider(w.out[1] * w.out[2]),
                                        Divider(w.out[2])});
  };
  // The largest of codes is the code of the largest.
  if (args.type == Elem::kI8) return run(int8_t{});
  if (args.type == Elem::kU8) return run(uint8_t{});
  return by_float(args.type, run);
}

}  // namespace mlopt::gpu
