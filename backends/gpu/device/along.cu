// Running sums, norms and the first elements of an axis; triangles; tensors continued beyond their ends.
#include "backends/gpu/device/along.h"
#include "backends/gpu/device/places.h"

namespace mlopt::gpu {
namespace {

/// Where line `line` of [outer, length, inner] begins.
template <class Args>
MLOPT_DEVICE int64_t line_start(const Args& args, int64_t length, int line) {
  return line / args.inner * length * args.inner + line % args.inner;
}

/// Each thread sums a piece of the line, then adds what comes before it; products likewise.
template <class T, int kThreads>
struct CumSum {
  using Shared = Partial<Wide<T>, kThreads>;
  using Local = Nothing;
  CumSumArgs args;

  MLOPT_DEVICE Wide<T> neutral() const { return static_cast<Wide<T>>(args.multiplies ? 1 : 0); }
  MLOPT_DEVICE Wide<T> joined(Wide<T> a, Wide<T> b) const { return args.multiplies ? a * b : a + b; }

  MLOPT_DEVICE int64_t at(int line, int64_t n) const {
    return line_start(args, args.length, line) + (args.reverse ? args.length - 1 - n : n) * args.inner;
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const T* x = static_cast<const T*>(args.in);
    T* y = static_cast<T*>(args.out);
    const int64_t each = (args.length + kThreads - 1) / kThreads;
    block.each([&](int t, Local&) {
      Wide<T> sum = neutral();
      for (int64_t n = t * each; n < (t + 1) * each && n < args.length; ++n)
        sum = joined(sum, widen(x[at(block.index, n)]));
      block.shared.partial[t] = sum;
    });
    block.each([&](int t, Local&) {
      Wide<T> running = neutral();
      for (int i = 0; i < t; ++i) running = joined(running, block.shared.partial[i]);
      for (int64_t n = t * each; n < (t + 1) * each && n < args.length; ++n) {
        const int64_t here = at(block.index, n);
        const Wide<T> before = running;
        running = joined(running, widen(x[here]));
        y[here] = narrow<T>(args.exclusive ? before : running);
      }
    });
  }
};

template <class T, int kThreads>
struct LpNorm {
  using Shared = Partial<float, kThreads>;
  using Local = Nothing;
  LpNormArgs args;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t start = line_start(args, args.length, block.index);
    const T* x = static_cast<const T*>(args.in) + start;
    T* y = static_cast<T*>(args.out) + start;
    block.each([&](int t, Local&) {
      float sum = 0;
      for (int64_t n = t; n < args.length; n += kThreads) {
        const float v = widen(x[n * args.inner]);
        sum += args.square ? v * v : fabsf(v);
      }
      block.shared.partial[t] = sum;
    });
    combine(block, [](float a, float b) { return a + b; });
    block.each([&](int t, Local&) {
      const float sum = block.shared.partial[0], norm = args.square ? sqrtf(sum) : sum;
      for (int64_t n = t; n < args.length; n += kThreads)
        y[n * args.inner] = narrow<T>(norm == 0 ? 0 : widen(x[n * args.inner]) / norm);
    });
  }
};

template <class T>
struct Found {
  T value;
  int64_t place;  ///< -1: nothing
};

/// Each element found is the first of those behind the one found before.
template <class T, int kThreads>
struct Top {
  using Shared = Partial<Found<Wide<T>>, kThreads>;
  struct Local {
    Found<Wide<T>> last;
  };
  TopArgs args;

  MLOPT_DEVICE bool before(const Found<Wide<T>>& a, const Found<Wide<T>>& b) const {
    if (a.place < 0 || b.place < 0) return a.place >= 0;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan == (args.nan_first || (args.leads && (a_nan ? a : b).place == 0));
    if (!a_nan && a.value != b.value) return args.largest ? a.value > b.value : a.value < b.value;
    return args.last && !a_nan ? a.place > b.place : a.place < b.place;
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const T* x = static_cast<const T*>(args.in) + line_start(args, args.length, block.index);
    const int64_t to = line_start(args, args.count, block.index);
    block.each([&](int, Local& local) { local.last = {0, -1}; });
    for (int64_t i = 0; i < args.count; ++i) {
      block.each([&](int t, Local& local) {
        Found<Wide<T>> mine{0, -1};
        for (int64_t n = t; n < args.length; n += kThreads) {
          const Found<Wide<T>> now{widen(x[n * args.inner]), n};
          if ((local.last.place < 0 || before(local.last, now)) && before(now, mine)) mine = now;
        }
        block.shared.partial[t] = mine;
      });
      combine(block, [&](const Found<Wide<T>>& a, const Found<Wide<T>>& b) { return before(b, a) ? b : a; });
      block.each([&](int t, Local& local) {
        local.last = block.shared.partial[0];
        if (t != 0) return;
        args.places[to + i * args.inner] = local.last.place;
        if (args.values) static_cast<T*>(args.values)[to + i * args.inner] = x[local.last.place * args.inner];
      });
    }
  }
};

template <class T>
struct Triangle {
  TriangleArgs args;
  Divider by_row, by_matrix;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_row.quotient(i), row = line - by_matrix.quotient(line) * by_matrix.divisor;
    const int64_t right = static_cast<int64_t>(i - line * by_row.divisor) - static_cast<int64_t>(row);
    const int64_t offset = args.offset ? *args.offset : 0;
    const bool kept = args.upper ? right >= offset : right <= offset;
    static_cast<T*>(args.out)[i] = kept ? static_cast<const T*>(args.in)[i] : T{};
  }
};

/// `place` modulo `period`, not negative.
MLOPT_DEVICE int32_t modulo(int32_t place, int32_t period) {
  const int32_t rest = place % period;
  return rest < 0 ? rest + period : rest;
}

MLOPT_DEVICE int32_t source_of(Beyond beyond, int32_t place, int32_t length) {
  if (place >= 0 && place < length) return place;
  if (beyond == Beyond::kEdge) return place < 0 ? 0 : length - 1;
  if (beyond == Beyond::kWrap) return modulo(place, length);
  if (length == 1) return 0;
  const int32_t period = 2 * (length - 1), folded = modulo(place, period);
  return folded < length ? folded : period - folded;
}

template <class T>
struct Continue {
  ContinueArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    uint32_t rest = i;
    int64_t from = 0, stride = 1;
    for (int k = 0; k < args.rank; ++k) {
      const uint32_t next = args.out_dims[k].quotient(rest);
      const auto here = static_cast<int32_t>(rest - next * args.out_dims[k].divisor);
      from += source_of(args.beyond, here - args.before[k], args.lengths[k]) * stride;
      stride *= args.lengths[k];
      rest = next;
    }
    static_cast<T*>(args.out)[i] = static_cast<const T*>(args.in)[from];
  }
};

template <template <class, int> class Work, class T, class Args>
Status for_lines(Queue& queue, const Args& args) {
  return for_rows<Work, T>(queue, args.outer * args.inner, args.length, args);
}

}  // namespace

Status cum_sum(Queue& queue, const CumSumArgs& args) {
  return by_number(args.type, [&](auto one) { return for_lines<CumSum, decltype(one)>(queue, args); });
}

Status lp_norm(Queue& queue, const LpNormArgs& args) {
  return by_float(args.type, [&](auto one) { return for_lines<LpNorm, decltype(one)>(queue, args); });
}

Status top(Queue& queue, const TopArgs& args) {
  if (args.type == Elem::kU64) return for_lines<Top, uint64_t>(queue, args);
  return by_number(args.type, [&](auto one) { return for_lines<Top, decltype(one)>(queue, args); });
}

Status triangle(Queue& queue, const TriangleArgs& args) {
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.count, Triangle<decltype(one)>{args, Divider(args.columns), Divider(args.rows)});
  });
}

Status continued(Queue& queue, const ContinueArgs& args) {
  return by_width(args.width, [&](auto one) { return for_each(queue, args.count, Continue<decltype(one)>{args}); });
}

}  // namespace mlopt::gpu
