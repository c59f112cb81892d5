#include "backends/gpu/device/lines.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct LocalNorm {
  LocalNormArgs args;
  Divider by_inner, by_length;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_inner.quotient(i), o = by_length.quotient(line);
    const int64_t c = line - o * by_length.divisor, before = (args.size - 1) / 2, after = args.size / 2;
    const int64_t first = c > before ? c - before : 0, last = c + after < args.length ? c + after : args.length - 1;
    const T* x = static_cast<const T*>(args.in) + i;
    float sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      const float v = widen(x[(k - c) * args.inner]);
      sum += v * v;
    }
    static_cast<T*>(args.out)[i] = narrow<T>(widen(*x) / powf(args.bias + args.scale * sum, args.beta));
  }
};

template <class T>
struct Reverse {
  ReverseArgs args;
  Reporter reporter;
  Divider by_inner, by_second;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_inner.quotient(i), first = by_second.quotient(line),
                   second = line - first * by_second.divisor;
    const int64_t n = args.batch_first ? first : second, t = args.batch_first ? second : first;
    const int64_t length =
        args.wide ? static_cast<const int64_t*>(args.lengths)[n] : static_cast<const int32_t*>(args.lengths)[n];
    if (length < 0 || length > args.time) return reporter.outside(length, args.time + 1);
    const int64_t from = t < length ? length - 1 - t : t;
    const int64_t step = args.batch_first ? args.inner : args.batch * args.inner;
    static_cast<T*>(args.out)[i] = static_cast<const T*>(args.in)[i + (from - t) * step];
  }
};

/// By elimination, the largest pivot of a column first.
template <class T>
struct Determinant {
  DetArgs args;
  MLOPT_DEVICE void operator()(uint32_t which) const {
    const int64_t n = args.size;
    float* m = args.scratch + which * n * n;
    for (int64_t i = 0; i < n * n; ++i) m[i] = widen(static_cast<const T*>(args.in)[which * n * n + i]);
    float product = 1;
    for (int64_t k = 0; k < n; ++k) {
      int64_t pivot = k;
      for (int64_t row = k + 1; row < n; ++row)
        if (fabsf(m[row * n + k]) > fabsf(m[pivot * n + k])) pivot = row;
      product *= pivot == k ? m[k * n + k] : -m[pivot * n + k];
      if (product == 0) break;
      for (int64_t column = k; pivot != k && column < n; ++column) {
        const float kept = m[k * n + column];
        m[k * n + column] = m[pivot * n + column];
        m[pivot * n + column] = kept;
      }
      for (int64_t row = k + 1; row < n; ++row) {
        const float factor = m[row * n + k] / m[k * n + k];
        for (int64_t column = k + 1; column < n; ++column) m[row * n + column] -= factor * m[k * n + column];
      }
    }
    static_cast<T*>(args.out)[which] = narrow<T>(product);
  }
};

}  // namespace

Status local_norm(Queue& queue, const LocalNormArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.outer * args.length * args.inner,
                    LocalNorm<decltype(one)>{args, Divider(args.inner), Divider(args.length)});
  });
}

Status reverse(Queue& queue, const ReverseArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.time * args.batch * args.inner,
                    Reverse<decltype(one)>{args, reporter_of(queue), Divider(args.inner),
                                           Divider(args.batch_first ? args.time : args.batch)});
  });
}

Status determinants(Queue& queue, const DetArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, Determinant<decltype(one)>{args}); });
}

}  // namespace mlopt::gpu
