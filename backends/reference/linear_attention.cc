#include <fmt/core.h>

#include <cmath>

#include "backends/reference/activation.h"
#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/gemm.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

/// Which terms of the recurrence an update rule has: S = exp(g) S + beta k (v - exp(g) S' k)'.
struct Rule {
  bool decays, corrects;
};

Rule read_rule(const Call& call) {
  const std::string name = call.view.get_string("update_rule", "gated_delta");
  const Rule rule{name == "gated" || name == "gated_delta", name == "delta" || name == "gated_delta"};
  if (!rule.decays && !rule.corrects && name != "linear") fail(call, fmt::format("unknown update_rule '{}'", name));
  require(call, rule.decays == call.has(4), "decay goes with the gated rules and with no other");
  require(call, rule.corrects == call.has(5), "beta goes with the delta rules and with no other");
  return rule;
}

/// Sizes; inputs are [batch, steps, heads * size].
struct Shape {
  int64_t batch, steps, heads, kv_heads, key, value;
  int64_t decay_width = 0, beta_width = 0;  ///< last axes of decay and beta
};

Shape read_shape(const Call& call) {
  const Dims &q = call.in(0).dims(), &k = call.in(1).dims(), &v = call.in(2).dims();
  Shape s{};
  s.heads = call.view.get_int("q_num_heads"), s.kv_heads = call.view.get_int("kv_num_heads");
  require(call, s.heads > 0 && s.kv_heads > 0 && s.heads % s.kv_heads == 0,
          "q_num_heads is not a multiple of kv_num_heads");
  require(call, q.size() == 3 && k.size() == 3 && v.size() == 3, "query, key and value must have rank 3");
  s.batch = q[0], s.steps = q[1], s.key = q[2] / s.heads, s.value = v[2] / s.kv_heads;
  const Dims want_k{s.batch, s.steps, s.kv_heads * s.key}, want_v{s.batch, s.steps, s.kv_heads * s.value};
  if (q[2] != s.heads * s.key || k != want_k || v != want_v)
    fail(call,
         fmt::format("query {}, key {} and value {} do not fit together", to_string(q), to_string(k), to_string(v)));
  const auto width = [&](int i, int64_t wide, int64_t narrow) {
    if (!call.has(i)) return int64_t{0};
    const Dims& d = call.in(i).dims();
    const bool fits = d.size() == 3 && d[0] == s.batch && d[1] == s.steps && (d[2] == wide || d[2] == narrow);
    if (!fits) fail(call, fmt::format("input {} of shape {} does not fit", i, to_string(d)));
    return d[2];
  };
  s.decay_width = width(4, s.kv_heads * s.key, s.kv_heads);
  s.beta_width = width(5, s.kv_heads, 1);
  require(call, !call.has(3) || call.in(3).dims() == Dims{s.batch, s.kv_heads, s.key, s.value},
          "past_state has the wrong shape");
  return s;
}

template <class T>
struct Recurrence {
  Shape n;
  Rule rule;
  double scale;
  const T *q, *k, *v, *decay, *beta;
  T *state, *y;

  /// All steps of one key-value head of one sample, and the query heads that read it.
  void run_head(int64_t b, int64_t h) const {
    T* s = state + (b * n.kv_heads + h) * n.key * n.value;
    std::vector<T> change(static_cast<size_t>(n.value));
    const int64_t group = n.heads / n.kv_heads;
    for (int64_t t = 0; t < n.steps; ++t) {
      const int64_t at = b * n.steps + t;
      const T* key = k + (at * n.kv_heads + h) * n.key;
      const T* value = v + (at * n.kv_heads + h) * n.value;
      if (rule.decays) shrink(s, at, h);
      std::copy_n(value, n.value, change.data());
      if (rule.corrects) {
        const T rate = beta[at * n.beta_width + (n.beta_width == 1 ? 0 : h)];
        for (int64_t i = 0; i < n.key; ++i)
          for (int64_t j = 0; j < n.value; ++j) change[static_cast<size_t>(j)] -= s[i * n.value + j] * key[i];
        for (T& c : change) c *= rate;
      }
      for (int64_t i = 0; i < n.key; ++i)
        for (int64_t j = 0; j < n.value; ++j) s[i * n.value + j] += key[i] * change[static_cast<size_t>(j)];
      T* out = y + (at * n.heads + h * group) * n.value;
      gemm<T>(group, n.value, n.key, rows_of(q + (at * n.heads + h * group) * n.key, n.key), rows_of<T>(s, n.value),
              out, n.value);
      for (int64_t i = 0; i < group * n.value; ++i) out[i] *= static_cast<T>(scale);
    }
  }

  /// s *= exp(g), with one g for the head or one for each of its key elements.
  void shrink(T* s, int64_t at, int64_t h) const {
    const bool per_head = n.decay_width == n.kv_heads;
    const T* g = decay + at * n.decay_width + h * (per_head ? 1 : n.key);
    for (int64_t i = 0; i < n.key; ++i) {
      const T factor = std::exp(g[per_head ? 0 : i]);
      for (int64_t j = 0; j < n.value; ++j) s[i * n.value + j] *= factor;
    }
  }
};

void linear_attention_op(Call& call) {
  const Shape n = read_shape(call);
  const Rule rule = read_rule(call);
  const DType type = call.in(0).dtype(), state_type = call.has(3) ? call.in(3).dtype() : type;
  with_float(call, type, [&](auto zero) {
    using T = decltype(zero);
    const DType own = dtype_of<T>();
    const auto input = [&](int i) { return call.has(i) ? as(call.in(i), own) : Tensor(own, {0}); };
    const Tensor q = input(0), k = input(1), v = input(2), decay = input(4), beta = input(5);
    Tensor state = call.has(3) ? as(call.in(3), own) : Tensor::zeros(own, {n.batch, n.kv_heads, n.key, n.value});
    Tensor y(own, {n.batch, n.steps, n.heads * n.value});
    double scale = call.view.get_float("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(n.key));
    const Recurrence<T> r{n,
                          rule,
                          scale,
                          q.data<T>(),
                          k.data<T>(),
                          v.data<T>(),
                          decay.data<T>(),
                          beta.data<T>(),
                          state.mutable_data<T>(),
                          y.mutable_data<T>()};
    parallel_for(n.batch * n.kv_heads, grain_of(n.steps * n.key * n.value), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) r.run_head(i / n.kv_heads, i % n.kv_heads);
    });
    call.set(0, as(y, type));
    call.set(1, as(state, state_type));
  });
}

/// One channel: out[t] = bias + sum over i of weight[i] * line[t + i], where the line begins with the state.
template <class T>
void convolve_line(const std::vector<T>& line, const T* weight, int64_t taps, T bias, bool silu, T* out,
                   int64_t length) {
  for (int64_t t = 0; t < length; ++t) {
    T sum = bias;
    for (int64_t i = 0; i < taps; ++i) sum += weight[i] * line[static_cast<size_t>(t + i)];
    out[t] = silu ? sum * sigmoid(sum) : sum;
  }
}

void causal_conv_op(Call& call) {
  const Tensor x = widened(call.in(0)), w = as(call.in(1), x.dtype());
  const bool fits = x.rank() == 3 && w.rank() == 3 && w.dim(0) == x.dim(1) && w.dim(1) == 1 && w.dim(2) >= 1;
  if (!fits) fail(call, fmt::format("input {} and weight {} do not fit", to_string(x.dims()), to_string(w.dims())));
  const int64_t batch = x.dim(0), channels = x.dim(1), length = x.dim(2), taps = w.dim(2), kept = taps - 1;
  const std::string activation = call.view.get_string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    fail(call, fmt::format("unknown activation '{}'", activation));
  const Dims state_dims{batch, channels, kept};
  const Tensor bias = call.has(2) ? as(call.in(2), x.dtype()) : Tensor::zeros(x.dtype(), {channels});
  Tensor state = call.has(3) ? as(call.in(3), x.dtype()) : Tensor::zeros(x.dtype(), state_dims);
  require(call, bias.size() == channels && state.dims() == state_dims, "bias or past_state has the wrong shape");
  Tensor y(x.dtype(), x.dims());
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *in = x.data<T>(), *weights = w.data<T>(), *biases = bias.data<T>();
    T *out = y.mutable_data<T>(), *carried = state.mutable_data<T>();
    std::vector<T> line(static_cast<size_t>(kept + length));
    for (int64_t i = 0; i < batch * channels; ++i, in += length, out += length, carried += kept) {
      std::copy_n(carried, kept, line.begin());
      std::copy_n(in, length, line.begin() + kept);
      const int64_t c = i % channels;
      convolve_line(line, weights + c * taps, taps, biases[c], activation != "none", out, length);
      std::copy_n(line.end() - kept, kept, carried);
    }
  });
  call.set(0, as(y, call.in(0).dtype()));
  call.set(1, as(state, call.in(0).dtype()));
}

constexpr Kernel kKernels[] = {
    {"", "LinearAttention", linear_attention_op},
    {"", "CausalConvWithState", causal_conv_op},
};

}  // namespace

std::span<const Kernel> linear_attention_kernels() { return kKernels; }

}  // namespace mlopt::reference
