// BatchNormalization by a batch's statistics, and the gradient of both forms: sums of slices of each channel, what
// follows from them for the channel, and all elements by that.
#include "backends/gpu/device/gradients.h"
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

/// Of x and its squares and of dy and its products with x, all with x counted from the channel's first element.
struct Sums {
  float x, squares, dy, product;
};
MLOPT_DEVICE Sums added(Sums a, Sums b) {
  return {a.x + b.x, a.squares + b.squares, a.dy + b.dy, a.product + b.product};
}

template <class T>
struct SumSlice {
  struct Shared {
    Sums partial[kBlock];
  };
  struct Local {};
  BatchNormArgs args;
  Divider by_slices, by_inner;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const uint32_t channel = by_slices.quotient(static_cast<uint32_t>(block.index));
    const int64_t slice = block.index - static_cast<int64_t>(channel) * args.slices, count = args.batch * args.inner;
    const T *x = static_cast<const T*>(args.in) + channel * args.inner,
            *dy = args.grad ? static_cast<const T*>(args.grad) + channel * args.inner : nullptr;
    block.each([&](int t, Local&) {
      const float shift = widen(x[0]);
      Sums sum{0, 0, 0, 0};
      for (int64_t e = count * slice / args.slices + t; e < count * (slice + 1) / args.slices; e += kBlock) {
        const uint32_t n = by_inner.quotient(static_cast<uint32_t>(e));
        const int64_t at = n * args.channels * args.inner + (e - static_cast<int64_t>(n) * args.inner);
        const float d = widen(x[at]) - shift, grad = dy ? widen(dy[at]) : 0;
        sum = added(sum, {d, d * d, grad, grad * d});
      }
      block.shared.partial[t] = sum;
    });
    combine(block, added);
    block.each([&](int t, Local&) {
      if (t == 0) reinterpret_cast<Sums*>(args.sums)[block.index] = block.shared.partial[0];
    });
  }
};

/// All slices of a channel, in double.
MLOPT_DEVICE ChannelTotal total(const BatchNormArgs& args, uint32_t channel) {
  ChannelTotal all{0, 0, 0, 0};
  for (int64_t s = 0; s < args.slices; ++s) {
    const Sums& sum = reinterpret_cast<const Sums*>(args.sums)[channel * args.slices + s];
    all.x += static_cast<double>(sum.x);
    all.squares += static_cast<double>(sum.squares);
    all.dy += static_cast<double>(sum.dy);
    all.product += static_cast<double>(sum.product);
  }
  return all;
}

/// Where the sums of this batch count x from.
template <class T>
MLOPT_DEVICE double shift_of(const BatchNormArgs& args, uint32_t channel) {
  return static_cast<double>(widen(static_cast<const T*>(args.in)[channel * args.inner]));
}

/// What statistics follow from, with x counted from `shift`.
struct Basis {
  ChannelTotal all;
  double shift;
};
template <class T>
MLOPT_DEVICE Basis basis(const BatchNormArgs& args, uint32_t channel) {
  if (args.totals) return {args.totals[channel], 0};
  return {total(args, channel), shift_of<T>(args, channel)};
}

struct Moments {
  double from_shift, variance;  ///< the mean from the shift
};
MLOPT_DEVICE Moments moments(const BatchNormArgs& args, const ChannelTotal& all) {
  const double count = static_cast<double>(args.batch * args.inner), mean = all.x / count;
  const double variance = all.squares / count - mean * mean;
  return {mean, variance > 0 ? variance : 0};
}

/// Room behind the sums: four numbers a channel, each kind by itself.
MLOPT_DEVICE float* room(const BatchNormArgs& args, int kind) {
  return args.sums + (4 * args.slices + kind) * args.channels;
}

template <class T>
struct Totals {
  BatchNormArgs args;
  MLOPT_DEVICE void operator()(uint32_t c) const {
    const ChannelTotal s = total(args, c);
    const double count = static_cast<double>(args.batch * args.inner), shift = shift_of<T>(args, c);
    args.totals[c] = {s.x + count * shift, s.squares + 2 * shift * s.x + count * shift * shift, s.dy,
                      s.product + shift * s.dy};
  }
};

template <class T>
struct Statistics {
  BatchNormArgs args;
  MLOPT_DEVICE void operator()(uint32_t c) const {
    const Basis basis_of = basis<T>(args, c);
    const Moments m = moments(args, basis_of.all);
    const double keep = static_cast<double>(args.momentum), mean = m.from_shift + basis_of.shift;
    room(args, 0)[c] = static_cast<float>(mean);
    room(args, 1)[c] = static_cast<float>(m.variance);
    args.first[c] = static_cast<float>(static_cast<double>(args.mean[c]) * keep + mean * (1 - keep));
    args.second[c] = static_cast<float>(static_cast<double>(args.variance[c]) * keep + m.variance * (1 - keep));
  }
};

/// dx = a dy + b (x - mean) + d.
template <class T>
struct Factors {
  BatchNormArgs args;
  MLOPT_DEVICE void operator()(uint32_t c) const {
    const Basis used = basis<T>(args, c);
    Moments m = moments(args, used.all);
    if (args.fixed) m = {static_cast<double>(args.mean[c]) - used.shift, static_cast<double>(args.variance[c])};
    const double inverse = 1 / sqrt(m.variance + static_cast<double>(args.epsilon));
    const auto along_of = [&](const ChannelTotal& all, double from_shift) {
      return (all.product - from_shift * all.dy) * inverse;
    };
    const double along = along_of(used.all, m.from_shift), a = static_cast<double>(args.scale[c]) * inverse;
    const double count = static_cast<double>(args.batch * args.inner);
    const ChannelTotal own = args.totals ? total(args, c) : used.all;
    args.first[c] =
        static_cast<float>(args.totals ? along_of(own, m.from_shift + used.shift - shift_of<T>(args, c)) : along);
    args.second[c] = static_cast<float>(own.dy);
    room(args, 0)[c] = static_cast<float>(a);
    room(args, 1)[c] = args.fixed ? 0 : static_cast<float>(-a * inverse * along / count);
    room(args, 2)[c] = args.fixed ? 0 : static_cast<float>(-a * used.all.dy / count);
    room(args, 3)[c] = static_cast<float>(m.from_shift + used.shift);
  }
};

template <class T>
struct Apply {
  BatchNormArgs args;
  Divider by_inner, by_channels;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t plane = by_inner.quotient(i), c = plane - by_channels.quotient(plane) * by_channels.divisor;
    const float x = widen(static_cast<const T*>(args.in)[i]), dy = widen(static_cast<const T*>(args.grad)[i]);
    static_cast<T*>(args.out)[i] =
        narrow<T>(room(args, 0)[c] * dy + room(args, 1)[c] * (x - room(args, 3)[c]) + room(args, 2)[c]);
  }
};

template <class T>
Status sum_slices(Queue& queue, const BatchNormArgs& args) {
  return for_blocks<kBlock>(queue, args.channels * args.slices,
                            SumSlice<T>{args, Divider(args.slices), Divider(args.inner)});
}

}  // namespace

Status batch_norm_totals(Queue& queue, const BatchNormArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (const Status failed = sum_slices<T>(queue, args)) return failed;
    return for_each(queue, args.channels, Totals<T>{args});
  });
}

Status batch_norm(Queue& queue, const BatchNormArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (const Status failed = args.totals ? nullptr : sum_slices<T>(queue, args)) return failed;
    if (const Status failed = for_each(queue, args.channels, Statistics<T>{args})) return failed;
    return channel_norm(queue, {args.type, args.epsilon, args.batch * args.channels * args.inner, args.channels,
                                args.inner, args.in, args.scale, args.bias, args.sums + 4 * args.slices * args.channels,
                                args.sums + (4 * args.slices + 1) * args.channels, args.out});
  });
}

Status batch_norm_grad(Queue& queue, const BatchNormArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (const Status failed = args.totals ? nullptr : sum_slices<T>(queue, args)) return failed;
    if (const Status failed = for_each(queue, args.channels, Factors<T>{args})) return failed;
    return for_each(queue, args.batch * args.channels * args.inner,
                    Apply<T>{args, Divider(args.inner), Divider(args.channels)});
  });
}

}  // namespace mlopt::gpu
