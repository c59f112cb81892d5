#include <limits>
#include <memory>

#include "backends/reference/attention_mask.h"
#include "backends/reference/heads.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// The operands as [batch, heads, rows, size], in their compute type, with the past in front of keys and values.
struct Operands {
  Tensor q, k, v, present_k, present_v;  ///< present_*: as given, not widened
  int64_t past = 0;
  bool packed = false;  ///< the inputs had rank 3
};

Operands read_operands(const Call& call) {
  Operands o;
  o.packed = call.in(0).rank() == 3;
  const auto heads_of = [&](int i, const char* attr) {
    return o.packed ? split_heads(call, call.in(i), call.view.get_int(attr)) : call.in(i);
  };
  const Tensor q = heads_of(0, "q_num_heads");
  o.present_k = heads_of(1, "kv_num_heads");
  o.present_v = heads_of(2, "kv_num_heads");
  require(call, call.has(4) == call.has(5), "past_key and past_value go together");
  require(call, !call.has(6) || !call.has(4), "nonpad_kv_seqlen excludes a past");
  if (call.has(4)) {
    o.past = call.in(4).rank() == 4 ? call.in(4).dim(2) : 0;
    o.present_k = append_rows(call, call.in(4), o.present_k);
    o.present_v = append_rows(call, call.in(5), o.present_v);
  }
  o.q = widened(q), o.k = as(o.present_k, o.q.dtype()), o.v = as(o.present_v, o.q.dtype());
  return o;
}

/// The positions that a query may see: causal, a window around it, and those that are not padding.
struct Visible {
  bool causal;
  int64_t left, right;         ///< -1: unbounded
  std::vector<int64_t> valid;  ///< keys of each sample; empty: all
  int64_t past;

  bool any() const { return causal || left >= 0 || right >= 0 || !valid.empty(); }

  template <class T>
  void hide_others(int64_t b, int64_t queries, int64_t keys, T* bias) const {
    const int64_t end = valid.empty() ? keys : valid[static_cast<size_t>(b)];
    const int64_t offset = valid.empty() ? past : end - queries;
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t at = i + offset;
      for (int64_t j = 0; j < keys; ++j)
        if (j >= end || (causal && j > at) || (left >= 0 && j < at - left) || (right >= 0 && j > at + right))
          bias[i * keys + j] = -std::numeric_limits<T>::infinity();
    }
  }
};

Visible read_visible(const Call& call, const Operands& o) {
  Visible v;
  v.causal = call.view.get_int("is_causal", 0) != 0;
  v.left = call.view.get_int("left_window_size", -1);
  v.right = call.view.get_int("right_window_size", -1);
  require(call, v.left >= -1 && v.right >= -1, "a window size below -1");
  v.past = o.past;
  if (call.has(6)) v.valid = to_ints(call.in(6));
  require(call, v.valid.empty() || static_cast<int64_t>(v.valid.size()) == o.q.dim(0),
          "nonpad_kv_seqlen is not [batch]");
  return v;
}

// Attribute softmax_precision is not read: the softmax is computed in float32 or double, never in less.
template <class T>
void run_attention(Call& call, const Operands& o) {
  Tensor y, scores;
  Attend<T> a = attend_heads<T>(call, o.q, o.k, o.v, o.packed, y);
  if (call.view.has("scale")) a.scale = call.view.get_float("scale", 1);
  a.softcap = call.view.get_float("softcap", 0);
  const Dims full{a.batch, a.heads, a.queries, a.keys};
  const Visible visible = read_visible(call, o);
  std::unique_ptr<AttentionMask<T>> mask;
  if (call.has(3)) mask = std::make_unique<AttentionMask<T>>(call, call.in(3), full, true);
  if (mask || visible.any()) {
    a.bias = [&](int64_t b, int64_t h, T* bias) {
      if (mask) mask->add(b, h, bias);
      visible.hide_others(b, a.queries, a.keys, bias);
    };
  }
  if (call.wants(3)) {
    const int64_t stage = call.view.get_int("qk_matmul_output_mode", 0);
    require(call, stage >= 0 && stage <= 3, "qk_matmul_output_mode is not 0, 1, 2 or 3");
    a.stage = static_cast<typename Attend<T>::Stage>(stage);
    scores = Tensor(y.dtype(), full);
    a.captured = scores.mutable_data<T>();
  }
  a.run();
  call.set(0, as(y, call.in(0).dtype()));
  call.set(1, o.present_k);
  call.set(2, o.present_v);
  if (call.wants(3)) call.set(3, as(scores, call.in(0).dtype()));
}

void attention_op(Call& call) {
  const Operands o = read_operands(call);
  with_float(call, o.q.dtype(), [&](auto zero) { run_attention<decltype(zero)>(call, o); });
}

constexpr Kernel kKernels[] = {{"", "Attention", attention_op}};

}  // namespace

std::span<const Kernel> attention_kernels() { return kKernels; }

}  // namespace mlopt::reference
