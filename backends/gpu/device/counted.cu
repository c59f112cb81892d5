#include "backends/gpu/device/counted.h"

namespace mlopt::gpu {
namespace {

/// numbers[i] becomes the sum of those before it; numbers[count], and *total, that of all.
struct AddUp {
  struct Shared {
    int64_t partial[kBlock];
  };
  struct Local {};
  int64_t count;
  int64_t *numbers, *total;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t each = (count + kBlock - 1) / kBlock;
    block.each([&](int t, Local&) {
      int64_t sum = 0;
      for (int64_t i = t * each; i < (t + 1) * each && i < count; ++i) sum += numbers[i];
      block.shared.partial[t] = sum;
    });
    block.each([&](int t, Local&) {
      int64_t running = 0;
      for (int k = 0; k < t; ++k) running += block.shared.partial[k];
      for (int64_t i = t * each; i < (t + 1) * each && i < count; ++i) {
        const int64_t here = numbers[i];
        numbers[i] = running;
        running += here;
      }
      if (t == kBlock - 1) numbers[count] = *total = running;
    });
  }
};

Status add_up(Queue& queue, int64_t count, int64_t* numbers, int64_t* total) {
  return for_blocks<kBlock>(queue, 1, AddUp{count, numbers, total});
}

/// A block takes a chunk, a thread a piece of it. First how many there are, then where.
template <class T, bool kWrites>
struct NonZero {
  struct Shared {
    int32_t partial[kBlock];
  };
  struct Local {};
  NonZeroArgs args;

  MLOPT_DEVICE bool holds(int64_t i) const { return widen(static_cast<const T*>(args.in)[i]) != Wide<T>(0); }

  MLOPT_DEVICE void write(int64_t i, int64_t to) const {
    auto rest = static_cast<uint32_t>(i);
    for (int axis = 0; axis < args.rank; ++axis) {
      const uint32_t next = args.dims[axis].quotient(rest);
      args.out[(args.rank - 1 - axis) * args.count + to] = rest - next * args.dims[axis].divisor;
      rest = next;
    }
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    constexpr int64_t kEach = NonZeroArgs::kChunk / kBlock;
    const int64_t start = block.index * NonZeroArgs::kChunk;
    const auto end_of = [&](int t) {
      const int64_t end = start + (t + 1) * kEach;
      return end < args.count ? end : args.count;
    };
    block.each([&](int t, Local&) {
      int32_t found = 0;
      for (int64_t i = start + t * kEach; i < end_of(t); ++i) found += holds(i);
      block.shared.partial[t] = found;
    });
    block.each([&](int t, Local&) {
      if (!kWrites && t > 0) return;
      int64_t before = kWrites ? args.before[block.index] : 0;
      for (int k = 0; k < (kWrites ? t : kBlock); ++k) before += block.shared.partial[k];
      if (!kWrites) args.before[block.index] = before;
      for (int64_t i = start + t * kEach; kWrites && i < end_of(t); ++i)
        if (holds(i)) write(i, before++);
    });
  }
};

struct Corners {
  float left, top, right, bottom;
  MLOPT_DEVICE float area() const { return (right - left) * (bottom - top); }
};

/// A block takes a class of a sample: again and again the best box that is left, and off with those that it hides.
template <class T>
struct Suppress {
  static constexpr int kThreads = 256;
  struct Best {
    float score;
    int64_t box;  ///< -1: none is left
  };
  struct Shared {
    Best partial[kThreads];
  };
  struct Local {
    Best best;
  };
  SuppressionArgs args;

  MLOPT_DEVICE Corners corners(int64_t sample, int64_t box) const {
    const T* v = static_cast<const T*>(args.corners) + (sample * args.boxes + box) * 4;
    const float a = widen(v[0]), b = widen(v[1]), c = widen(v[2]), d = widen(v[3]);
    if (args.centers) return {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
    return {b < d ? b : d, a < c ? a : c, b < d ? d : b, a < c ? c : a};
  }

  MLOPT_DEVICE bool hides(const Corners& a, const Corners& b) const {
    const float width = (a.right < b.right ? a.right : b.right) - (a.left > b.left ? a.left : b.left);
    const float height = (a.bottom < b.bottom ? a.bottom : b.bottom) - (a.top > b.top ? a.top : b.top);
    if (!(width > 0 && height > 0 && a.area() > 0 && b.area() > 0)) return false;
    const float both = width * height;
    return both / (a.area() + b.area() - both) > (args.overlap ? *args.overlap : 0);
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t pair = block.index, sample = pair / args.classes;
    const T* scores = static_cast<const T*>(args.scores) + pair * args.boxes;
    uint8_t* left = args.left + pair * args.boxes;
    block.each([&](int t, Local& local) {
      local.best = {0, 0};
      for (int64_t i = t; i < args.boxes; i += kThreads) {
        const float score = widen(scores[i]);
        left[i] = score == score && (!args.score || score > *args.score);
      }
      if (t == 0) args.counts[pair] = 0;
    });
    for (int64_t n = 0; n < args.most; ++n) {
      block.each([&](int t, Local& local) {
        Best best{0, -1};
        for (int64_t i = t; i < args.boxes && local.best.box >= 0; i += kThreads)
          if (left[i] && (best.box < 0 || widen(scores[i]) > best.score)) best = {widen(scores[i]), i};
        block.shared.partial[t] = best;
      });
      combine(block, [](const Best& a, const Best& b) {
        if (a.box < 0 || b.box < 0) return a.box < 0 ? b : a;
        return b.score > a.score || (b.score == a.score && b.box < a.box) ? b : a;
      });
      block.each([&](int t, Local& local) {
        local.best = block.shared.partial[0];
        if (local.best.box < 0) return;
        const Corners taken = corners(sample, local.best.box);
        for (int64_t i = t; i < args.boxes; i += kThreads)
          if (left[i] && (i == local.best.box || hides(corners(sample, i), taken))) left[i] = 0;
        if (t != 0) return;
        args.kept[pair * args.most + n] = local.best.box;
        args.counts[pair] = n + 1;
      });
    }
  }
};

struct ListKept {
  SuppressionArgs args;
  Divider by_most;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const int64_t pair = by_most.quotient(i), n = i - pair * args.most;
    const int64_t first = args.counts[pair];  // by now, of all pairs before
    if (n >= args.counts[pair + 1] - first) return;
    int64_t* out = args.out + (first + n) * 3;
    out[0] = pair / args.classes;
    out[1] = pair % args.classes;
    out[2] = args.kept[i];
  }
};

template <class T>
struct Slices {
  UniqueArgs args;

  /// -1, 0 or 1; numbers that are none are equal, and the largest.
  MLOPT_DEVICE int compare(int64_t a, int64_t b) const {
    const T* x = static_cast<const T*>(args.in);
    for (int64_t o = 0; o < args.outer; ++o)
      for (int64_t i = 0; i < args.inner; ++i) {
        const Wide<T> left = widen(x[(o * args.length + a) * args.inner + i]),
                      right = widen(x[(o * args.length + b) * args.inner + i]);
        const bool no_left = left != left, no_right = right != right;
        if (no_left != no_right) return no_left ? 1 : -1;
        if (!no_left && left != right) return left < right ? -1 : 1;
      }
    return 0;
  }
};

/// members[i]: how many slices are equal to slice i, 0 where one of them comes before it.
template <class T>
struct CountMembers : Slices<T> {
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const UniqueArgs& args = this->args;
    int64_t count = 0;
    for (int64_t other = 0; other < args.length; ++other) {
      if (this->compare(other, i) != 0) continue;
      if (other < i) {
        args.members[i] = 0;
        return;
      }
      ++count;
    }
    args.members[i] = count;
  }
};

/// Where the group of each first slice comes: behind those that are smaller, or begin before it.
template <class T>
struct PlaceGroups : Slices<T> {
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const UniqueArgs& args = this->args;
    if (args.members[i] == 0) return;
    int64_t place = 0;
    for (int64_t other = 0; other < args.length; ++other)
      if (args.members[other] > 0 && (args.sorted ? this->compare(other, i) < 0 : other < i)) ++place;
    args.first[place] = i;
    args.sizes[place] = args.members[i];
    for (int64_t other = i; other < args.length; ++other)
      if (this->compare(other, i) == 0) args.group[other] = place;
  }
};

struct CountGroups {
  struct Shared {
    int64_t partial[kBlock];
  };
  struct Local {};
  UniqueArgs args;
  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    block.each([&](int t, Local&) {
      int64_t found = 0;
      for (int64_t i = t; i < args.length; i += kBlock) found += args.members[i] > 0;
      block.shared.partial[t] = found;
    });
    combine(block, [](int64_t a, int64_t b) { return a + b; });
    block.each([&](int t, Local&) {
      if (t == 0) *args.found = block.shared.partial[0];
    });
  }
};

}  // namespace

Status non_zero(Queue& queue, const NonZeroArgs& args) {
  const int64_t chunks = (args.count + NonZeroArgs::kChunk - 1) / NonZeroArgs::kChunk;
  return by_type(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (const Status failed = for_blocks<kBlock>(queue, chunks, NonZero<T, false>{args})) return failed;
    if (const Status failed = add_up(queue, chunks, args.before, args.found)) return failed;
    return for_blocks<kBlock>(queue, chunks, NonZero<T, true>{args});
  });
}

Status suppress(Queue& queue, const SuppressionArgs& args) {
  const int64_t pairs = args.batch * args.classes;
  const Status failed = by_float(args.type, [&](auto one) {
    using Work = Suppress<decltype(one)>;
    return for_blocks<Work::kThreads>(queue, pairs, Work{args});
  });
  if (failed) return failed;
  if (const Status added = add_up(queue, pairs, args.counts, args.found)) return added;
  return for_each(queue, pairs * args.most, ListKept{args, Divider(args.most)});
}

Status unique(Queue& queue, const UniqueArgs& args) {
  return by_type(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (const Status failed = for_each(queue, args.length, CountMembers<T>{{args}})) return failed;
    if (const Status failed = for_blocks<kBlock>(queue, 1, CountGroups{args})) return failed;
    return for_each(queue, args.length, PlaceGroups<T>{{args}});
  });
}

}  // namespace mlopt::gpu
