// Resizing along one axis.
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

template <class T, bool kMoves>
struct Resize {
  ResizeArgs args;
  Divider inner, to;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t row = inner.quotient(i), k = i - row * inner.divisor;
    const uint32_t o = to.quotient(row);
    const Tap* taps = args.table + static_cast<int64_t>(row - o * to.divisor) * args.taps;
    const T* x = static_cast<const T*>(args.in) + o * args.from * args.inner + k;
    T& made = static_cast<T*>(args.out)[i];
    if constexpr (kMoves) {
      made = x[taps->place * args.inner];
    } else {
      const bool inside = taps->place >= 0;
      float sum = inside ? 0 : args.outside;
      for (int t = 0; inside && t < args.taps; ++t) sum += widen(x[taps[t].place * args.inner]) * taps[t].weight;
      made = narrow<T>(sum);
    }
  }
};

}  // namespace

Status resize(Queue& queue, const ResizeArgs& args) {
  const int64_t count = args.outer * args.to * args.inner;
  const Divider inner(static_cast<uint32_t>(args.inner)), to(static_cast<uint32_t>(args.to));
  if (args.width == 0)
    return by_float(args.type, [&](auto one) {
      return for_each(queue, count, Resize<decltype(one), false>{args, inner, to});
    });
  return by_width(args.width, [&](auto one) {
    return for_each(queue, count, Resize<decltype(one), true>{args, inner, to});
  });
}

}  // namespace mlopt::gpu
