// Elements by places that other tensors name.
#include "backends/gpu/device/places.h"

namespace mlopt::gpu {
namespace {

/// place_at(), reported where it is outside.
MLOPT_DEVICE int64_t place_in(const Reporter& reporter, bool wide, const void* places, int64_t i, int64_t length) {
  const int64_t place = place_at(wide, places, i, length);
  if (place < 0)
    reporter.outside(wide ? static_cast<const int64_t*>(places)[i] : static_cast<const int32_t*>(places)[i], length);
  return place;
}

/// Where tuple i leads; -1: outside.
MLOPT_DEVICE int64_t offset_of(const Reporter& reporter, const Tuples& tuples, int64_t i) {
  int64_t offset = i / tuples.each * tuples.batch_stride;
  for (int k = 0; k < tuples.rank; ++k) {
    const int64_t place = place_in(reporter, tuples.wide, tuples.places, i * tuples.rank + k, tuples.lengths[k]);
    if (place < 0) return -1;
    offset += place * tuples.strides[k];
  }
  return offset;
}

template <class T>
struct GatherElements {
  GatherElementsArgs args;
  Reporter reporter;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[1];
    args.walk.locate(i, at);
    const int64_t place = place_in(reporter, args.wide, args.places, i, args.length);
    static_cast<T*>(args.out)[i] = place < 0 ? T{} : static_cast<const T*>(args.in)[at[0] + place * args.stride];
  }
};

template <class T>
struct GatherTuples {
  GatherTuplesArgs args;
  Reporter reporter;
  Divider by_inner;
  MLOPT_DEVICE void operator()(uint32_t at) const {
    const uint32_t i = by_inner.quotient(at), k = at - i * by_inner.divisor;
    const int64_t offset = offset_of(reporter, args.tuples, i);
    static_cast<T*>(args.out)[at] = offset < 0 ? T{} : static_cast<const T*>(args.in)[offset + k];
  }
};

template <class T>
MLOPT_DEVICE T merged(Merge how, T old, T update) {
  const Wide<T> a = widen(old), b = widen(update);
  switch (how) {
    case Merge::kAdd:
      return narrow<T>(a + b);
    case Merge::kMul:
      return narrow<T>(a * b);
    case Merge::kMin:
      return b < a || b != b ? update : old;
    case Merge::kMax:
      return a < b || b != b ? update : old;
    default:
      return update;
  }
}

/// All updates of a line, in order.
template <class T>
struct ScatterElements {
  ScatterElementsArgs args;
  Reporter reporter;
  MLOPT_DEVICE void operator()(uint32_t line) const {
    int32_t at[2];
    args.walk.locate(line, at);
    for (int64_t i = 0; i < args.count; ++i) {
      const int64_t from = at[1] + i * args.update_stride;
      const int64_t place = place_in(reporter, args.wide, args.places, from, args.length);
      if (place < 0) continue;
      T& to = static_cast<T*>(args.out)[at[0] + place * args.stride];
      to = merged(args.merge, to, static_cast<const T*>(args.updates)[from]);
    }
  }
};

struct Offsets {
  Tuples tuples;
  Reporter reporter;
  int64_t* offsets;
  MLOPT_DEVICE void operator()(uint32_t i) const { offsets[i] = offset_of(reporter, tuples, i); }
};

/// The first update of each place writes what all of them make of it, in order.
template <class T>
struct ScatterTuples {
  ScatterTuplesArgs args;
  Divider by_inner;
  MLOPT_DEVICE void operator()(uint32_t at) const {
    const int64_t i = by_inner.quotient(at), k = at - i * by_inner.divisor, offset = args.offsets[i];
    if (offset < 0) return;
    for (int64_t other = 0; other < i; ++other)
      if (args.offsets[other] == offset) return;
    T& to = static_cast<T*>(args.out)[offset + k];
    T now = to;
    for (int64_t other = i; other < args.tuples.count; ++other)
      if (args.offsets[other] == offset)
        now = merged(args.merge, now, static_cast<const T*>(args.updates)[other * args.inner + k]);
    to = now;
  }
};

template <class T>
struct Unpool {
  UnpoolArgs args;
  Reporter reporter;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const int64_t place = args.places[i];
    if (place < 0 || place >= args.walk.count) return reporter.outside(place, args.walk.count);
    int32_t at[1];
    args.walk.locate(static_cast<uint32_t>(place), at);
    static_cast<T*>(args.out)[at[0]] = static_cast<const T*>(args.in)[i];
  }
};

template <class T>
struct WriteRows {
  WriteRowsArgs args;
  Reporter reporter;
  Divider by_inner, by_count, by_middle;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_inner.quotient(i), plane = by_count.quotient(line), b = by_middle.quotient(plane);
    int64_t row = line - plane * by_count.divisor;
    if (args.first) {
      const int64_t first =
          args.wide ? static_cast<const int64_t*>(args.first)[b] : static_cast<const int32_t*>(args.first)[b];
      if (first < 0 || first >= args.length) return reporter.outside(first, args.length);
      row += first;
    }
    if (args.circular) row %= args.length;
    if (row >= args.length) return reporter.outside(row, args.length);
    const int64_t to = (plane * args.length + row) * args.inner + (i - line * by_inner.divisor);
    static_cast<T*>(args.out)[to] = static_cast<const T*>(args.in)[i];
  }
};

template <class T>
struct OneHot {
  OneHotArgs args;
  Divider by_inner, by_depth;
  MLOPT_DEVICE void operator()(uint32_t at) const {
    const uint32_t line = by_inner.quotient(at), o = by_depth.quotient(line), d = line - o * by_depth.divisor;
    const int64_t place = place_at(args.wide, args.places, o * args.inner + (at - line * by_inner.divisor), args.depth);
    const bool hot = place == d;
    static_cast<T*>(args.out)[at] =
        args.values ? static_cast<const T*>(args.values)[hot] : static_cast<T>(args.bits[hot]);
  }
};

/// The type in which numbers are merged; where they are replaced, any of their width.
template <class Fn>
Status by_merge(Merge merge, Elem type, int width, const Fn& fn) {
  return merge == Merge::kReplace ? by_width(width, fn) : by_number(type, fn);
}

}  // namespace

Status gather_elements(Queue& queue, const GatherElementsArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.walk.count, GatherElements<decltype(one)>{args, reporter_of(queue)});
  });
}

Status gather_tuples(Queue& queue, const GatherTuplesArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.tuples.count * args.inner,
                    GatherTuples<decltype(one)>{args, reporter_of(queue), Divider(args.inner)});
  });
}

Status scatter_elements(Queue& queue, const ScatterElementsArgs& args) {
  return by_merge(args.merge, args.type, args.width, [&](auto one) {
    return for_each(queue, args.walk.count, ScatterElements<decltype(one)>{args, reporter_of(queue)});
  });
}

Status scatter_tuples(Queue& queue, const ScatterTuplesArgs& args) {
  if (const Status failed = for_each(queue, args.tuples.count, Offsets{args.tuples, reporter_of(queue), args.offsets}))
    return failed;
  return by_merge(args.merge, args.type, args.width, [&](auto one) {
    return for_each(queue, args.tuples.count * args.inner, ScatterTuples<decltype(one)>{args, Divider(args.inner)});
  });
}

Status unpool(Queue& queue, const UnpoolArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.count, Unpool<decltype(one)>{args, reporter_of(queue)});
  });
}

Status write_rows(Queue& queue, const WriteRowsArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.batch * args.middle * args.count * args.inner,
                    WriteRows<decltype(one)>{args, reporter_of(queue), Divider(args.inner), Divider(args.count),
                                             Divider(args.middle)});
  });
}

Status one_hot(Queue& queue, const OneHotArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.outer * args.depth * args.inner,
                    OneHot<decltype(one)>{args, Divider(args.inner), Divider(args.depth)});
  });
}

}  // namespace mlopt::gpu
