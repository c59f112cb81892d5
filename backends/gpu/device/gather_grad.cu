// The gradient of a gather: updates of one place make a list, which its first one adds up in order.
#include "backends/gpu/device/gradients.h"
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

/// For each update the place that it goes to, or -1 where an earlier one goes there or it is outside; and the next
/// update of the same place.
struct Lists {
  GatherGradArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const auto at = [&](int64_t k) { return place_at(args.wide, args.places, k, args.length); };
    const int64_t place = at(i);
    int64_t first = place, next = -1;
    for (int64_t k = 0; k < i && first >= 0; ++k)
      if (at(k) == place) first = -1;
    for (int64_t k = int64_t{i} + 1; k < args.count && place >= 0 && next < 0; ++k)
      if (at(k) == place) next = k;
    args.lists[2 * i] = static_cast<int32_t>(first);
    args.lists[2 * i + 1] = static_cast<int32_t>(next);
  }
};

template <class T>
struct SumLists {
  GatherGradArgs args;
  Divider by_inner, by_count;
  MLOPT_DEVICE void operator()(uint32_t at) const {
    const uint32_t line = by_inner.quotient(at), k = at - line * by_inner.divisor;
    const uint32_t o = by_count.quotient(line), i = line - o * by_count.divisor;
    const int32_t place = args.lists[2 * i];
    if (place < 0) return;
    float sum = 0;
    for (int32_t update = static_cast<int32_t>(i); update >= 0; update = args.lists[2 * update + 1])
      sum += widen(static_cast<const T*>(args.grad)[(o * args.count + update) * args.inner + k]);
    static_cast<T*>(args.out)[(o * args.length + place) * args.inner + k] = narrow<T>(sum);
  }
};

}  // namespace

Status gather_grad(Queue& queue, const GatherGradArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    const int64_t size = args.outer * args.length * args.inner;
    if (const Status failed = fill(queue, {sizeof(T), nullptr, args.out, size})) return failed;
    if (const Status failed = for_each(queue, args.count, Lists{args})) return failed;
    return for_each(queue, args.outer * args.count * args.inner,
                    SumLists<T>{args, Divider(args.inner), Divider(args.count)});
  });
}

}  // namespace mlopt::gpu
