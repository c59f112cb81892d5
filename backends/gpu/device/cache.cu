// Keys and values behind those of before.
#include "backends/gpu/device/attention.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Extend {
  CacheArgs args;
  Reporter reporter;
  Divider by_size, by_capacity, by_heads;

  MLOPT_DEVICE float angle(const void* table, int64_t position, int64_t pair) const {
    return widen(static_cast<const T*>(table)[position * args.half + pair]);
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_size.quotient(i), head = by_capacity.quotient(line), b = by_heads.quotient(head);
    const int64_t row = line - head * by_capacity.divisor, e = i - line * by_size.divisor;
    const int64_t last = args.last[b], before = args.prompt ? 0 : last + 1 - args.rows;
    if (last < 0 || last >= args.longest) return reporter.outside(last, args.longest);
    if (!args.alone && (before < 0 || before > args.past)) return reporter.outside(before, args.past + 1);
    const int64_t fresh = args.alone ? row : row - before;
    T& out = static_cast<T*>(args.out)[i];
    if (fresh < 0) {
      const bool known = args.cache && row < args.past;
      out = known ? static_cast<const T*>(args.cache)[(head * args.past + row) * args.size + e] : narrow<T>(0);
      return;
    }
    if (fresh >= args.rows) {
      out = narrow<T>(0);
      return;
    }
    const T* x = static_cast<const T*>(args.in) + b * args.at.batch + (head - b * by_heads.divisor) * args.at.head +
                 fresh * args.at.row;
    if (!args.cosines || e >= 2 * args.half) {
      out = x[e];
      return;
    }
    const int64_t position = args.positions ? args.positions[b * args.rows + fresh] : before + fresh;
    if (position < 0 || position >= args.table) return reporter.outside(position, args.table);
    const bool second = args.interleaved ? e % 2 != 0 : e >= args.half;
    const int64_t pair = args.interleaved ? e / 2 : second ? e - args.half : e;
    const int64_t apart = args.interleaved ? 1 : args.half;
    const float other = widen(x[second ? e - apart : e + apart]), sine = angle(args.sines, position, pair);
    out = narrow<T>(angle(args.cosines, position, pair) * widen(x[e]) + (second ? sine : -sine) * other);
  }
};

}  // namespace

Status extend_cache(Queue& queue, const CacheArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.heads * args.capacity * args.size,
                    Extend<decltype(one)>{args, reporter_of(queue), Divider(args.size), Divider(args.capacity),
                                          Divider(args.heads)});
  });
}

}  // namespace mlopt::gpu
