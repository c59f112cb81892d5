// Gradients of softmax and of normalized rows: a block of threads for each row.
#include "backends/gpu/device/gradients.h"

namespace mlopt::gpu {
namespace {

struct Pair {
  float a, b;
};
MLOPT_DEVICE Pair added(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }

struct Shared {
  Pair partial[kBlock];
};
struct Local {};

/// The sums of what fn(n) gives for all n of a row.
template <class B, class Fn>
MLOPT_DEVICE Pair sums(B& block, int64_t length, const Fn& fn) {
  block.each([&](int t, auto&) {
    Pair sum{0, 0};
    for (int64_t n = t; n < length; n += block.threads) sum = added(sum, fn(n));
    block.shared.partial[t] = sum;
  });
  combine(block, added);
  const Pair result = block.shared.partial[0];
  block.each([](int, auto&) {});  // all have read it
  return result;
}

template <class T>
struct SoftmaxGrad {
  using Shared = gpu::Shared;
  using Local = gpu::Local;
  SoftmaxGradArgs args;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t start = block.index / args.inner * args.length * args.inner + block.index % args.inner;
    const T *y = static_cast<const T*>(args.made) + start, *dy = static_cast<const T*>(args.grad) + start;
    T* dx = static_cast<T*>(args.out) + start;
    const float sum = sums(block, args.length, [&](int64_t n) {
                        const float grad = widen(dy[n * args.inner]);
                        return Pair{args.log ? grad : grad * widen(y[n * args.inner]), 0};
                      }).a;
    block.each([&](int t, Local&) {
      for (int64_t n = t; n < args.length; n += block.threads) {
        const float made = widen(y[n * args.inner]), grad = widen(dy[n * args.inner]);
        dx[n * args.inner] = narrow<T>(args.log ? grad - expf(made) * sum : made * (grad - sum));
      }
    });
  }
};

template <class T>
struct NormGrad {
  using Shared = gpu::Shared;
  using Local = gpu::Local;
  NormGradArgs args;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t start = block.index * args.length, first = block.index % args.period * args.channels;
    const T *x = static_cast<const T*>(args.in) + start, *dy = static_cast<const T*>(args.grad) + start;
    const T* scale = static_cast<const T*>(args.scale) + first;
    const float count = static_cast<float>(args.length);
    const float mean = args.rms ? 0
                                : sums(block, args.length,
                                       [&](int64_t n) {
                                         return Pair{widen(x[n]), 0};
                                       }).a /
                                      count;
    const float squares = sums(block, args.length, [&](int64_t n) {
                            const float d = widen(x[n]) - mean;
                            return Pair{d * d, 0};
                          }).a;
    const float inverse = 1 / sqrtf(squares / count + args.epsilon);
    const auto normal = [&](int64_t n) { return (widen(x[n]) - mean) * inverse; };
    const auto scaled = [&](int64_t n) { return widen(dy[n]) * widen(scale[n / args.inner]); };
    const Pair total = sums(block, args.length, [&](int64_t n) { return Pair{scaled(n), scaled(n) * normal(n)}; });
    const float shared = args.rms ? 0 : total.a / count, along = total.b / count;
    block.each([&](int t, Local&) {
      for (int64_t n = t; n < args.length; n += block.threads)
        static_cast<T*>(args.out)[start + n] = narrow<T>(inverse * (scaled(n) - shared - normal(n) * along));
      if (t > 0) return;
      args.stats[2 * block.index] = mean;
      args.stats[2 * block.index + 1] = inverse;
    });
  }
};

/// What element i of the factor c's part of its n-th row adds to the gradients of factor and addend.
template <class T>
MLOPT_DEVICE Pair factor_term(const NormGradArgs& args, int64_t n, int64_t c, int64_t i) {
  const int64_t row = n * args.period + c / args.channels;
  const int64_t at = row * args.length + c % args.channels * args.inner + i;
  const float grad = widen(static_cast<const T*>(args.grad)[at]);
  const float x = widen(static_cast<const T*>(args.in)[at]);
  return {grad * (x - args.stats[2 * row]) * args.stats[2 * row + 1], grad};
}

/// The rows that have a factor, those of one slice.
MLOPT_DEVICE int64_t slice_begin(const NormGradArgs& args, int64_t slice) {
  return args.rows / args.period * slice / args.slices;
}

/// Neighbouring threads have neighbouring factors, which lie side by side.
template <class T>
struct FactorsByThread {
  NormGradArgs args;
  Divider by_factors;
  MLOPT_DEVICE void operator()(uint32_t k) const {
    const uint32_t slice = by_factors.quotient(k), c = k - slice * by_factors.divisor;
    Pair sum{0, 0};
    for (int64_t n = slice_begin(args, slice); n < slice_begin(args, slice + 1); ++n)
      sum = added(sum, factor_term<T>(args, n, c, 0));
    reinterpret_cast<Pair*>(args.sums)[k] = sum;
  }
};

template <class T>
struct FactorsByBlock {
  using Shared = gpu::Shared;
  using Local = gpu::Local;
  NormGradArgs args;
  int factors;
  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t slice = block.index / factors, c = block.index % factors;
    const int64_t begin = slice_begin(args, slice), count = (slice_begin(args, slice + 1) - begin) * args.inner;
    const Pair sum =
        sums(block, count, [&](int64_t k) { return factor_term<T>(args, begin + k / args.inner, c, k % args.inner); });
    block.each([&](int t, Local&) {
      if (t == 0) reinterpret_cast<Pair*>(args.sums)[block.index] = sum;
    });
  }
};

template <class T>
struct FactorSums {
  NormGradArgs args;
  int64_t factors;
  MLOPT_DEVICE void operator()(uint32_t c) const {
    Pair sum{0, 0};
    for (int64_t slice = 0; slice < args.slices; ++slice)
      sum = added(sum, reinterpret_cast<const Pair*>(args.sums)[slice * factors + c]);
    static_cast<T*>(args.scale_out)[c] = narrow<T>(sum.a);
    static_cast<T*>(args.bias_out)[c] = narrow<T>(sum.b);
  }
};

}  // namespace

Status softmax_grad(Queue& queue, const SoftmaxGradArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_blocks<kBlock>(queue, args.outer * args.inner, SoftmaxGrad<decltype(one)>{args});
  });
}

Status norm_grad(Queue& queue, const NormGradArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    const int64_t factors = args.period * args.channels;
    Status failed = for_blocks<kBlock>(queue, args.rows, NormGrad<T>{args});
    if (failed) return failed;
    if (args.inner == 1)
      failed = for_each(queue, factors * args.slices, FactorsByThread<T>{args, Divider(factors)});
    else
      failed = for_blocks<kBlock>(queue, factors * args.slices, FactorsByBlock<T>{args, static_cast<int>(factors)});
    return failed ? failed : for_each(queue, factors, FactorSums<T>{args, factors});
  });
}

}  // namespace mlopt::gpu
