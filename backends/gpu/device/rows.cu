// Reductions, softmax and normalizations: a block of threads for each row, or a thread for each column.
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

MLOPT_DEVICE float before(Before how, float x) {
  return how == Before::kAbs ? fabsf(x) : how == Before::kSquare ? x * x : x;
}
template <class T>
MLOPT_DEVICE T before(Before how, T x) {
  return how == Before::kAbs && x < 0 ? -x : how == Before::kSquare ? x * x : x;
}
MLOPT_DEVICE float after(After how, float x) {
  return how == After::kRoot ? sqrtf(x) : how == After::kLog ? logf(x) : x;
}
template <class T>
MLOPT_DEVICE T after(After, T x) {
  return x;
}

template <class T>
MLOPT_DEVICE T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}
template <class T>
MLOPT_DEVICE T highest() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}

template <class T>
MLOPT_DEVICE T identity(Fold fold) {
  switch (fold) {
    case Fold::kSum:
      return T(0);
    case Fold::kProd:
      return T(1);
    case Fold::kMax:
    case Fold::kMaxNumber:
      return lowest<T>();
    default:
      return highest<T>();
  }
}

template <class T>
MLOPT_DEVICE T folded(Fold fold, T x, T y) {
  switch (fold) {
    case Fold::kSum:
      return x + y;
    case Fold::kProd:
      return x * y;
    case Fold::kMax:
      return x != x || x > y ? x : y;
    case Fold::kMin:
      return x != x || x < y ? x : y;
    case Fold::kMaxNumber:
      return y != y || x > y ? x : y;
    default:
      return y != y || x < y ? x : y;
  }
}

template <class T>
MLOPT_DEVICE Wide<T> read(const ReduceArgs& args, int64_t i) {
  const Wide<T> x =
      args.from_partial ? static_cast<const Wide<T>*>(args.in)[i] : widen(static_cast<const T*>(args.in)[i]);
  return before(args.before, x);
}
template <class T>
MLOPT_DEVICE void write(const ReduceArgs& args, int64_t i, Wide<T> acc) {
  const Wide<T> y = after(args.after, acc / static_cast<Wide<T>>(args.divisor));
  if (args.to_partial)
    static_cast<Wide<T>*>(args.out)[i] = y;
  else
    static_cast<T*>(args.out)[i] = narrow<T>(y);
}

template <class T>
struct ReduceColumn {
  ReduceArgs args;
  Divider inner;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t o = inner.quotient(i), k = i - o * inner.divisor;
    const int64_t first = o * args.length * args.inner + k;
    Wide<T> acc = identity<Wide<T>>(args.fold);
    for (int64_t n = 0; n < args.length; ++n) acc = folded(args.fold, acc, read<T>(args, first + n * args.inner));
    write<T>(args, i, acc);
  }
};

template <class T, int kThreads>
struct ReduceRow {
  using Shared = Partial<Wide<T>, kThreads>;
  using Local = Nothing;
  ReduceArgs args;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t first = block.index * args.length;
    block.each([&](int t, Local&) {
      Wide<T> acc = identity<Wide<T>>(args.fold);
      for (int64_t n = t; n < args.length; n += kThreads) acc = folded(args.fold, acc, read<T>(args, first + n));
      block.shared.partial[t] = acc;
    });
    combine(block, [&](Wide<T> a, Wide<T> b) { return folded(args.fold, a, b); });
    block.each([&](int t, Local&) {
      if (t == 0) write<T>(args, block.index, block.shared.partial[0]);
    });
  }
};

/// The largest number and the sum of exponentials in one pass over the row (Milakov and Gimelshein 2018).
struct ExpSum {
  float most, sum;
};

MLOPT_DEVICE ExpSum joined(ExpSum x, ExpSum y) {
  if (y.most > x.most || y.most != y.most) {
    const ExpSum other = x;
    x = y;
    y = other;
  }
  if (y.sum != 0) x.sum += y.most == x.most ? y.sum : y.sum * expf(y.most - x.most);
  return x;
}

template <class T, int kThreads>
struct LogSumExp {
  using Shared = Partial<ExpSum, kThreads>;
  using Local = Nothing;
  ReduceArgs args;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t start = block.index / args.inner * args.length * args.inner + block.index % args.inner;
    block.each([&](int t, Local&) {
      ExpSum mine{-std::numeric_limits<float>::infinity(), 0};
      for (int64_t n = t; n < args.length; n += kThreads)
        mine = joined(mine, {read<T>(args, start + n * args.inner), 1});
      block.shared.partial[t] = mine;
    });
    combine(block, [](ExpSum a, ExpSum b) { return joined(a, b); });
    block.each([&](int t, Local&) {
      const ExpSum all = block.shared.partial[0];
      if (t == 0) write<T>(args, block.index, all.most + logf(all.sum));
    });
  }
};

template <class T, int kThreads>
struct Softmax {
  using Shared = Partial<ExpSum, kThreads>;
  using Local = Nothing;
  SoftmaxArgs args;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t start = block.index / args.inner * args.length * args.inner + block.index % args.inner;
    const T* x = static_cast<const T*>(args.in) + start;
    T* y = static_cast<T*>(args.out) + start;
    block.each([&](int t, Local&) {
      ExpSum mine{-std::numeric_limits<float>::infinity(), 0};
      for (int64_t n = t; n < args.length; n += kThreads) mine = joined(mine, {widen(x[n * args.inner]), 1});
      block.shared.partial[t] = mine;
    });
    combine(block, [](ExpSum a, ExpSum b) { return joined(a, b); });
    block.each([&](int t, Local&) {
      ExpSum all = block.shared.partial[0];
      all.sum += all.most - all.most;  // NaN where the largest is infinite: no share is known then
      const float log_sum = logf(all.sum);
      for (int64_t n = t; n < args.length; n += kThreads) {
        const float v = widen(x[n * args.inner]) - all.most;
        y[n * args.inner] = narrow<T>(args.log ? v - log_sum : expf(v) / all.sum);
      }
    });
  }
};

template <class T, int kThreads>
struct Norm {
  using Shared = Partial<float, kThreads>;
  using Local = Nothing;
  NormArgs args;

  MLOPT_DEVICE float at(int64_t row, int64_t n) const {
    const int64_t i = row * args.length + n;
    float x = widen(static_cast<const T*>(args.in)[i]);
    if (args.skip) x += widen(static_cast<const T*>(args.skip)[i]);
    if (args.skip_bias) x += widen(static_cast<const T*>(args.skip_bias)[n]);
    return x;
  }

  /// The mean of fn(element) over the row.
  template <class Fn>
  MLOPT_DEVICE float mean(Block<Shared, Local>& block, const Fn& fn) const {
    block.each([&](int t, Local&) {
      float sum = 0;
      for (int64_t n = t; n < args.length; n += kThreads) sum += fn(at(block.index, n));
      block.shared.partial[t] = sum;
    });
    combine(block, [](float a, float b) { return a + b; });
    const float result = block.shared.partial[0] / static_cast<float>(args.length);
    block.each([](int, Local&) {});  // all have read it
    return result;
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const float middle = args.rms ? 0 : mean(block, [](float x) { return x; });
    const float variance = mean(block, [&](float x) { return (x - middle) * (x - middle); });
    const float factor = 1 / sqrtf(variance + args.epsilon);
    block.each([&](int t, Local&) {
      const int64_t first = block.index % args.period * args.channels;
      for (int64_t n = t; n < args.length; n += kThreads) {
        const int64_t i = block.index * args.length + n, c = first + n / args.inner;
        const float x = at(block.index, n);
        float y = (x - middle) * factor;
        if (args.scale) y *= widen(static_cast<const T*>(args.scale)[c]);
        if (args.bias) y += widen(static_cast<const T*>(args.bias)[c]);
        static_cast<T*>(args.out)[i] = narrow<T>(y);
        if (args.sum) static_cast<T*>(args.sum)[i] = narrow<T>(x);
      }
    });
  }
};

template <class T>
struct ChannelNorm {
  ChannelNormArgs args;
  Divider inner, channels;
  static MLOPT_DEVICE float number(const void* at, bool is_narrow, uint32_t c) {
    return is_narrow ? widen(static_cast<const T*>(at)[c]) : static_cast<const float*>(at)[c];
  }
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t plane = inner.quotient(i), c = plane - channels.quotient(plane) * channels.divisor;
    const float mean = number(args.mean, args.narrow_statistics, c);
    const float variance = number(args.variance, args.narrow_statistics, c);
    const float factor = number(args.scale, args.narrow_scale, c) / sqrtf(variance + args.epsilon);
    const float x = widen(static_cast<const T*>(args.in)[i]);
    static_cast<T*>(args.out)[i] = narrow<T>((x - mean) * factor + number(args.bias, args.narrow_scale, c));
  }
};

}  // namespace

Status reduce(Queue& queue, const ReduceArgs& args) {
  if (args.fold == Fold::kLogSumExp)
    return by_float(args.type, [&](auto one) {
      return for_rows<LogSumExp, decltype(one)>(queue, args.outer * args.inner, args.length, args);
    });
  return by_number(args.type, [&](auto one) {
    using T = decltype(one);
    if (args.inner == 1 && args.length > 8) return for_rows<ReduceRow, T>(queue, args.outer, args.length, args);
    return for_each(queue, args.outer * args.inner, ReduceColumn<T>{args, Divider(args.inner)});
  });
}

Status softmax(Queue& queue, const SoftmaxArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_rows<Softmax, decltype(one)>(queue, args.outer * args.inner, args.length, args);
  });
}

Status norm(Queue& queue, const NormArgs& args) {
  return by_float(args.type,
                  [&](auto one) { return for_rows<Norm, decltype(one)>(queue, args.rows, args.length, args); });
}

Status channel_norm(Queue& queue, const ChannelNormArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.count, ChannelNorm<decltype(one)>{args, Divider(args.inner), Divider(args.channels)});
  });
}

}  // namespace mlopt::gpu
