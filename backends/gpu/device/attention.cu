// Attention by tiles of queries and keys with running sums of exponentials (Dao et al., "FlashAttention", 2022), and
// rotary embeddings.
#include "backends/gpu/device/attention_mask.h"

namespace mlopt::gpu {
namespace {

/// A tile of kTile queries of one head, by kRows rows of threads with kAcross threads each.
template <class T, int kDepth>
struct Attention {
  static constexpr int kTile = kDepth > 128 ? 16 : 32, kThreads = 128, kAcross = 8, kRows = kThreads / kAcross;
  static constexpr int kEach = kTile / kRows;  ///< queries of a thread
  static constexpr int kScores = kTile / kAcross, kOutputs = kDepth / kAcross;
  struct Shared {
    float queries[kTile][kDepth + 1];
    float keys[kTile][kDepth + 1];  ///< then values
    float scores[kTile][kTile + 1], weights[kTile][kTile + 1];
  };
  struct Local {
    float most[kEach], sum[kEach], factor[kEach], out[kEach][kOutputs];
  };
  AttentionArgs args;
  int tiles;  ///< of the queries of a head

  /// Rows from `first` on of a head into shared memory, zeros beyond its ends.
  MLOPT_DEVICE void load(int t, const void* from, int64_t start, int64_t step, int64_t first, int64_t rows,
                         int64_t width, float (&to)[kTile][kDepth + 1]) const {
    for (int i = t; i < kTile * kDepth; i += kThreads) {
      const int row = i / kDepth, d = i % kDepth;
      const bool inside = first + row < rows && d < width;
      to[row][d] = inside ? widen(static_cast<const T*>(from)[start + (first + row) * step + d]) : 0;
    }
  }

  MLOPT_DEVICE float product(const Shared& shared, int query, int key) const {
    float sum = 0;
#ifdef __CUDACC__
#pragma unroll 8
#endif
    for (int d = 0; d < kDepth; ++d) sum += shared.queries[query][d] * shared.keys[key][d];
    sum *= args.scale;
    return args.softcap != 0 ? args.softcap * tanhf(sum / args.softcap) : sum;
  }

  /// Weights of a tile of keys: exponentials of what is below the largest score so far.
  MLOPT_DEVICE void weigh(Shared& shared, int t, Local& local) const {
    for (int e = 0; e < kEach; ++e) {
      const int q = t / kAcross * kEach + e;
      float most = local.most[e];
      for (int k = 0; k < kTile; ++k) most = shared.scores[q][k] > most ? shared.scores[q][k] : most;
      const bool nothing = most == -std::numeric_limits<float>::infinity();
      local.factor[e] = nothing ? 1 : expf(local.most[e] - most);
      local.most[e] = most;
      for (int j = 0; j < kScores; ++j) {
        const int k = t % kAcross + j * kAcross;
        shared.weights[q][k] = nothing && shared.scores[q][k] == most ? 0 : expf(shared.scores[q][k] - most);
      }
    }
  }

  MLOPT_DEVICE void accumulate(const Shared& shared, int t, Local& local) const {
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int e = 0; e < kEach; ++e) {
      const int q = t / kAcross * kEach + e;
      local.sum[e] *= local.factor[e];
      for (float& out : local.out[e]) out *= local.factor[e];
      for (int k = 0; k < kTile; ++k) {
        const float weight = shared.weights[q][k];
        local.sum[e] += weight;
#ifdef __CUDACC__
#pragma unroll
#endif
        for (int j = 0; j < kOutputs; ++j) local.out[e][j] += weight * shared.keys[k][t % kAcross + j * kAcross];
      }
    }
  }

  MLOPT_DEVICE void finish(int t, const Local& local, int64_t start, int64_t first) const {
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int e = 0; e < kEach; ++e) {
      const int64_t query = first + t / kAcross * kEach + e;
      if (query >= args.queries) continue;
      const float none = args.hidden_are_nan ? std::numeric_limits<float>::quiet_NaN() : 0;
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int j = 0; j < kOutputs; ++j) {
        const int d = t % kAcross + j * kAcross;
        if (d < args.value_depth)
          static_cast<T*>(args.out)[start + query * args.out_at.row + d] =
              narrow<T>(local.sum[e] == 0 ? none : local.out[e][j] / local.sum[e]);
      }
    }
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t first = block.index % tiles * kTile, h = block.index / tiles % args.heads,
                  b = block.index / tiles / args.heads, kv = h / (args.heads / args.kv_heads);
    const int64_t end = args.lengths ? args.lengths[b] : args.last ? int64_t{args.last[b]} + 1 : args.keys;
    const bool at_end = (args.lengths || args.last) && !args.prompt;
    const int64_t before = at_end ? end - args.queries : args.past;
    const auto start = [&](const HeadsAt& at, int64_t head) { return b * at.batch + head * at.head; };
    block.each([&](int t, Local& local) {
      for (int e = 0; e < kEach; ++e) {
        local.most[e] = -std::numeric_limits<float>::infinity();
        local.sum[e] = 0;
        for (float& out : local.out[e]) out = 0;
      }
      load(t, args.q, start(args.q_at, h), args.q_at.row, first, args.queries, args.depth, block.shared.queries);
    });
    for (int64_t from = 0; from < args.keys; from += kTile) {
      if (from >= end || (args.causal && from > first + kTile - 1 + before)) break;
      block.each([&](int t, Local&) {
        load(t, args.k, start(args.k_at, kv), args.k_at.row, from, args.keys, args.depth, block.shared.keys);
      });
      block.each([&](int t, Local&) {
        for (int e = 0; e < kEach; ++e)
          for (int j = 0; j < kScores; ++j) {
            const int q = t / kAcross * kEach + e, k = t % kAcross + j * kAcross;
            const int64_t query = first + q, key = from + k;
            const bool inside = query < args.queries && key < args.keys;
            const float added = inside ? attention_bias(args, b, h, query, key, end, query + before)
                                       : -std::numeric_limits<float>::infinity();
            const bool hidden = added == -std::numeric_limits<float>::infinity();
            block.shared.scores[q][k] = hidden ? added : product(block.shared, q, k) + added;
          }
      });
      block.each([&](int t, Local& local) {
        weigh(block.shared, t, local);
        load(t, args.v, start(args.v_at, kv), args.v_at.row, from, args.keys, args.value_depth, block.shared.keys);
      });
      block.each([&](int t, Local& local) { accumulate(block.shared, t, local); });
    }
    block.each([&](int t, Local& local) { finish(t, local, start(args.out_at, h), first); });
  }
};

template <class T, int kDepth>
Status attention_of(Queue& queue, const AttentionArgs& args) {
  using Work = Attention<T, kDepth>;
  const int tiles = static_cast<int>((args.queries + Work::kTile - 1) / Work::kTile);
  return for_blocks<Work::kThreads>(queue, args.batch * args.heads * tiles, Work{args, tiles});
}

template <class T>
struct Rotary {
  RotaryArgs args;
  Reporter reporter;
  Divider by_size, by_inner, by_outer;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_size.quotient(i), rest = by_inner.quotient(line), n = by_outer.quotient(rest);
    const uint32_t inner = line - rest * by_inner.divisor, outer = rest - n * by_outer.divisor;
    const int64_t row = args.packed ? outer : inner, e = i - line * by_size.divisor;
    const T* x = static_cast<const T*>(args.in);
    T& out = static_cast<T*>(args.out)[i];
    if (e >= 2 * args.half) {
      out = x[i];
      return;
    }
    const int64_t own = n * args.rows + row;
    const int64_t place = !args.positions   ? (args.shared ? row : own)
                          : args.start_only ? args.positions[0] + row
                                            : args.positions[own];
    const bool second = args.interleaved ? e % 2 != 0 : e >= args.half;
    const int64_t angle = args.interleaved ? e / 2 : second ? e - args.half : e;
    const int64_t apart = args.interleaved ? 1 : args.half;
    if (place < 0 || place >= args.table) return reporter.outside(place, args.table);
    const int64_t at = place * args.half + angle;
    const float cosine = widen(static_cast<const T*>(args.cosines)[at]);
    const float sine = widen(static_cast<const T*>(args.sines)[at]);
    const float mine = widen(x[i]), other = widen(x[second ? i - apart : i + apart]);
    out = narrow<T>(cosine * mine + (second ? sine : -sine) * other);
  }
};

}  // namespace

Status attention(Queue& queue, const AttentionArgs& args) {
  const int64_t depth = args.depth > args.value_depth ? args.depth : args.value_depth;
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (depth <= 64) return attention_of<T, 64>(queue, args);
    if (depth <= 128) return attention_of<T, 128>(queue, args);
    if (depth <= AttentionArgs::kMostDepth) return attention_of<T, AttentionArgs::kMostDepth>(queue, args);
    return "no kernel for heads of this size";
  });
}

Status rotary(Queue& queue, const RotaryArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.heads * args.rows * args.size,
                    Rotary<decltype(one)>{args, reporter_of(queue), Divider(args.size),
                                          Divider(args.packed ? args.heads : args.rows),
                                          Divider(args.packed ? args.rows : args.heads)});
  });
}

}  // namespace mlopt::gpu
