// The softmax of attention whose scores are stored.
#include "backends/gpu/device/attention_mask.h"

namespace mlopt::gpu {
namespace {

/// The weights of one query's keys.
template <class T>
struct Weigh {
  static constexpr int kThreads = 128;
  struct Shared {
    float partial[kThreads];
    float most, sum;
  };
  struct Local {};
  AttentionWeightsArgs args;

  MLOPT_DEVICE float score(int64_t row, int64_t key) const {
    const AttentionArgs& a = args.attention;
    const int64_t query = row % a.queries, head = row / a.queries + args.first;
    const float added = attention_bias(a, head / a.heads, head % a.heads, query, key, a.keys, query + a.past);
    if (added == -std::numeric_limits<float>::infinity()) return added;
    const float s = args.scores[row * a.keys + key];
    return (a.softcap != 0 ? a.softcap * tanhf(s / a.softcap) : s) + added;
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int64_t row = block.index, keys = args.attention.keys;
    block.each([&](int t, Local&) {
      float most = -std::numeric_limits<float>::infinity();
      for (int64_t k = t; k < keys; k += kThreads) {
        const float s = score(row, k);
        most = s > most || s != s ? s : most;
      }
      block.shared.partial[t] = most;
    });
    combine(block, [](float x, float y) { return x != x || x > y ? x : y; });
    block.each([&](int t, Local&) {
      if (t == 0) block.shared.most = block.shared.partial[0];
    });
    const float most = block.shared.most;
    const bool nothing = most == -std::numeric_limits<float>::infinity();
    block.each([&](int t, Local&) {
      float sum = 0;
      for (int64_t k = t; k < keys && !nothing; k += kThreads) sum += expf(score(row, k) - most);
      block.shared.partial[t] = sum;
    });
    combine(block, [](float x, float y) { return x + y; });
    block.each([&](int t, Local&) {
      if (t == 0) block.shared.sum = block.shared.partial[0];
    });
    const float sum = block.shared.sum,
                none = args.attention.hidden_are_nan ? std::numeric_limits<float>::quiet_NaN() : 0;
    block.each([&](int t, Local&) {
      T* out = static_cast<T*>(args.weights) + row * keys;
      for (int64_t k = t; k < keys; k += kThreads)
        out[k] = narrow<T>(nothing ? none : expf(score(row, k) - most) / sum);
    });
  }
};

}  // namespace

Status attention_weights(Queue& queue, const AttentionWeightsArgs& args) {
  return by_float(args.attention.type, [&](auto one) {
    using Work = Weigh<decltype(one)>;
    return for_blocks<Work::kThreads>(queue, args.heads * args.attention.queries, Work{args});
  });
}

}  // namespace mlopt::gpu
