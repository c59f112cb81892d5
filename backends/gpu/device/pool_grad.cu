// Gradients of pools: each element of the input looks at the windows that cover it, so that sums have one order.
#include "backends/gpu/device/gradients.h"
#include "backends/gpu/device/power.h"

namespace mlopt::gpu {
namespace {

struct Position {
  int at[3];
};

/// Position number i of a picture of these sizes.
struct Places {
  Divider by_row, by_column;
  explicit Places(const int (&size)[3]) : by_row(size[1] * size[2]), by_column(size[2]) {}
  MLOPT_DEVICE Position operator()(uint32_t i) const {
    const uint32_t d = by_row.quotient(i), rest = i - d * by_row.divisor, h = by_column.quotient(rest);
    return {{static_cast<int>(d), static_cast<int>(h), static_cast<int>(rest - h * by_column.divisor)}};
  }
};

/// visit(place, value) for each of output i's window that lies on the picture, in their order.
template <class T, class Visit>
MLOPT_DEVICE void over_window(const PoolArgs& pool, const Places& places, const Divider& by_positions, uint32_t i,
                              const Visit& visit) {
  const Windows& w = pool.windows;
  const uint32_t plane = by_positions.quotient(i);
  const Position o = places(i - plane * by_positions.divisor);
  const T* x = static_cast<const T*>(pool.in) + static_cast<int64_t>(plane) * w.in[0] * w.in[1] * w.in[2];
  int at[3];
  for (int a = 0; a < w.kernel[0]; ++a) {
    at[0] = o.at[0] * w.stride[0] - w.before[0] + a * w.dilation[0];
    if (at[0] < 0 || at[0] >= w.in[0]) continue;
    for (int b = 0; b < w.kernel[1]; ++b) {
      at[1] = o.at[1] * w.stride[1] - w.before[1] + b * w.dilation[1];
      if (at[1] < 0 || at[1] >= w.in[1]) continue;
      for (int c = 0; c < w.kernel[2]; ++c) {
        at[2] = o.at[2] * w.stride[2] - w.before[2] + c * w.dilation[2];
        if (at[2] < 0 || at[2] >= w.in[2]) continue;
        const int place = (at[0] * w.in[1] + at[1]) * w.in[2] + at[2];
        visit(place, static_cast<float>(widen(x[place])));
      }
    }
  }
}

/// For each output of a maximum, the first place in the plane that has it; -1: the window lies beside the picture.
template <class T>
struct Best {
  PoolGradArgs args;
  Places places;
  Divider by_positions;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    int best = -1;
    float most = 0;
    over_window<T>(args.pool, places, by_positions, i, [&](int place, float v) {
      if (best >= 0 && !(v > most) && !(v != v && most == most)) return;
      best = place;
      most = v;
    });
    args.best[i] = best;
  }
};

/// For each output of a norm, that norm.
template <class T>
struct Norms {
  PoolGradArgs args;
  Places places;
  Divider by_positions;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    float sum = 0;
    over_window<T>(args.pool, places, by_positions, i, [&](int, float v) { sum += power(v, args.pool.exponent); });
    args.norms[i] = root(sum, args.pool.exponent);
  }
};

template <class T>
struct PoolGrad {
  PoolGradArgs args;
  Places places;
  Divider by_plane;

  /// The output along axis k whose window has its `tap` at `at`; -1: none.
  MLOPT_DEVICE int output(int k, int at, int tap) const {
    const Windows& w = args.pool.windows;
    const int start = at + w.before[k] - tap * w.dilation[k];
    if (start < 0 || start % w.stride[k] != 0) return -1;
    return start / w.stride[k] < w.out[k] ? start / w.stride[k] : -1;
  }
  /// How many taps of the window at output `o` of axis k the mean counts.
  MLOPT_DEVICE int counted(int k, int o) const {
    const Windows& w = args.pool.windows;
    const bool padding = args.pool.kind == PoolKind::kAverageWithPadding;
    int taps = 0;
    for (int tap = 0; tap < w.kernel[k]; ++tap) {
      const int at = o * w.stride[k] - w.before[k] + tap * w.dilation[k];
      taps += padding ? at < w.in[k] + args.pool.after[k] : at >= 0 && at < w.in[k];
    }
    return taps;
  }
  /// What output i passes on to `place`, which holds v.
  MLOPT_DEVICE float share(uint32_t place, float v, int64_t i, const int (&o)[3]) const {
    const float grad = widen(static_cast<const T*>(args.grad)[i]);
    if (args.pool.kind == PoolKind::kNorm) {
      const float norm = args.norms[i];
      return norm == 0 ? 0 : grad * copysignf(powf(fabsf(v) / norm, args.pool.exponent - 1), v);
    }
    if (args.pool.kind == PoolKind::kMax) return args.best[i] == static_cast<int32_t>(place) ? grad : 0;
    return grad / static_cast<float>(counted(0, o[0]) * counted(1, o[1]) * counted(2, o[2]));
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Windows& w = args.pool.windows;
    const uint32_t plane = by_plane.quotient(i), place = i - plane * by_plane.divisor;
    const Position p = places(place);
    const int64_t first = static_cast<int64_t>(plane) * w.out[0] * w.out[1] * w.out[2];
    const float v = widen(static_cast<const T*>(args.pool.in)[i]);
    float sum = 0;
    int o[3];
    for (int a = w.kernel[0] - 1; a >= 0; --a) {
      if ((o[0] = output(0, p.at[0], a)) < 0) continue;
      for (int b = w.kernel[1] - 1; b >= 0; --b) {
        if ((o[1] = output(1, p.at[1], b)) < 0) continue;
        for (int c = w.kernel[2] - 1; c >= 0; --c)
          if ((o[2] = output(2, p.at[2], c)) >= 0)
            sum += share(place, v, first + (int64_t{o[0]} * w.out[1] + o[1]) * w.out[2] + o[2], o);
      }
    }
    static_cast<T*>(args.pool.out)[i] = narrow<T>(sum);
  }
};

}  // namespace

Status pool_grad(Queue& queue, const PoolGradArgs& args) {
  const Windows& w = args.pool.windows;
  const int positions = w.out[0] * w.out[1] * w.out[2], plane = w.in[0] * w.in[1] * w.in[2];
  return by_float(args.pool.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (args.pool.kind == PoolKind::kMax) {
      const Best<T> best{args, Places(w.out), Divider(positions)};
      if (const Status failed = for_each(queue, args.pool.planes * positions, best)) return failed;
    } else if (args.pool.kind == PoolKind::kNorm) {
      const Norms<T> norms{args, Places(w.out), Divider(positions)};
      if (const Status failed = for_each(queue, args.pool.planes * positions, norms)) return failed;
    }
    return for_each(queue, args.pool.planes * plane, PoolGrad<T>{args, Places(w.in), Divider(plane)});
  });
}

}  // namespace mlopt::gpu
