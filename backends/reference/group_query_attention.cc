#include <fmt/core.h>

#include <limits>
#include <optional>

#include "backends/reference/attention_mask.h"
#include "backends/reference/contrib_attention.h"
#include "backends/reference/heads.h"
#include "backends/reference/kernels.h"
#include "backends/reference/rotary.h"

namespace mlopt::reference {
namespace {

/// The inputs, [batch, heads, rows, size] in one compute type, and what of the caches is in use.
struct Operands {
  Tensor q, k, v;
  std::vector<int64_t> before;  ///< keys of each sample that precede the new ones
  std::vector<int64_t> total;   ///< and with the new ones that are not padding
  int64_t capacity = 0;         ///< rows of the caches that come out
};

void read_heads(const Call& call, Operands& o) {
  const int64_t heads = call.view.get_int("num_heads"), kv_heads = call.view.get_int("kv_num_heads");
  const Tensor x = widened(call.in(0));
  require(call, x.rank() == 3 && heads > 0 && kv_heads > 0 && heads % kv_heads == 0,
          "the query must have rank 3 and num_heads be a multiple of kv_num_heads");
  require(call, call.has(1) == call.has(2), "key and value go together");
  if (call.has(1)) {
    o.q = split_heads(call, x, heads);
    o.k = split_heads(call, as(call.in(1), x.dtype()), kv_heads);
    o.v = split_heads(call, as(call.in(2), x.dtype()), kv_heads);
    return;
  }
  require(call, x.dim(2) % (heads + 2 * kv_heads) == 0, "packed queries, keys and values have no whole heads");
  const int64_t size = x.dim(2) / (heads + 2 * kv_heads);
  o.q = columns_as_heads(call, x, 0, heads, size);
  o.k = columns_as_heads(call, x, heads * size, kv_heads, size);
  o.v = columns_as_heads(call, x, (heads + kv_heads) * size, kv_heads, size);
}

/// How far the caches are filled: before the first rows of a prompt they are empty, later the new rows end at
/// seqlens_k.
void read_lengths(const Call& call, Operands& o) {
  const int64_t batch = o.q.dim(0), rows = o.q.dim(2), longest = int_in(call, 6, 0);
  const int64_t cached = call.has(3) && call.in(3).rank() == 4 ? call.in(3).dim(2) : 0;
  const std::vector<int64_t> last = to_ints(call.in(5));
  require(call, static_cast<int64_t>(last.size()) == batch, "seqlens_k is not [batch]");
  if (longest < rows || longest > cached + rows)
    fail(call, fmt::format("total_sequence_length {} with {} rows cached and {} new", longest, cached, rows));
  o.capacity = std::max(cached, longest);
  for (const int64_t at : last) {
    const int64_t total = at + 1, before = rows == longest ? 0 : total - rows;
    if (total < 1 || total > longest || before < 0 || before > cached)
      fail(call, fmt::format("seqlens_k {} with {} rows cached and {} new", at, cached, rows));
    o.before.push_back(before);
    o.total.push_back(total);
  }
}

template <class T>
Tensor turned(const Call& call, const Operands& o, const Tensor& x) {
  const Tensor cosines = as(call.in(7), x.dtype()), sines = as(call.in(8), x.dtype());
  require(call, cosines.rank() == 2 && cosines.dims() == sines.dims(),
          "the tables of cosines and sines must have rank 2");
  const Rotation n{x.dim(0), x.dim(1),           x.dim(2),
                   x.dim(3), 2 * cosines.dim(1), call.view.get_int("rotary_interleaved", 0) != 0};
  require(call, n.turned <= n.size, "more cosines than pairs in a head");
  const std::vector<int64_t> given = call.has(9) ? to_ints(call.in(9)) : std::vector<int64_t>();
  require(call, given.empty() || static_cast<int64_t>(given.size()) == n.batch * n.rows,
          "position_ids is not [batch, rows]");
  Tensor y(x.dtype(), x.dims());
  rotate<T>(n, Heads<const T>::outside(x.data<T>(), n.heads, n.rows, n.size),
            Heads<T>::outside(y.mutable_data<T>(), n.heads, n.rows, n.size), cosines.data<T>(), sines.data<T>(),
            [&](int64_t b, int64_t r) {
              const int64_t at =
                  given.empty() ? o.before[static_cast<size_t>(b)] + r : given[static_cast<size_t>(b * n.rows + r)];
              if (at < 0 || at >= cosines.dim(0))
                fail(call, fmt::format("position {} in a table of {}", at, cosines.dim(0)));
              return at;
            });
  return y;
}

/// The rows of the cache in input i that are in use, then the new ones, then zeros.
template <class T>
Tensor extended(const Call& call, const Operands& o, int i, const Tensor& x) {
  Tensor out = Tensor::zeros(x.dtype(), {x.dim(0), x.dim(1), o.capacity, x.dim(3)});
  const Tensor cache = call.has(i) ? as(call.in(i), x.dtype()) : Tensor(x.dtype(), {x.dim(0), x.dim(1), 0, x.dim(3)});
  const Dims want{x.dim(0), x.dim(1), cache.rank() == 4 ? cache.dim(2) : 0, x.dim(3)};
  if (cache.dims() != want || want[2] > o.capacity)
    fail(call, fmt::format("a cache of shape {} for new rows {}", to_string(cache.dims()), to_string(x.dims())));
  const int64_t size = x.dim(3), old_rows = want[2], new_rows = x.dim(2);
  T* to = out.mutable_data<T>();
  for (int64_t h = 0; h < x.dim(0) * x.dim(1); ++h, to += o.capacity * size) {
    const int64_t before = o.before[static_cast<size_t>(h / x.dim(1))];
    std::copy_n(cache.data<T>() + h * old_rows * size, before * size, to);
    std::copy_n(x.data<T>() + h * new_rows * size, std::min(new_rows, o.capacity - before) * size, to + before * size);
  }
  return out;
}

template <class T>
void run(Call& call, Operands o) {
  const NodeView& view = call.view;
  if (view.get_int("do_rotary", 0) != 0) {
    o.q = turned<T>(call, o, o.q);
    o.k = turned<T>(call, o, o.k);
  }
  const Tensor keys = extended<T>(call, o, 3, o.k), values = extended<T>(call, o, 4, o.v);
  Tensor y;
  Attend<T> a = attend_heads<T>(call, o.q, keys, values, true, y);
  if (const float scale = view.get_float("scale", 0); scale != 0) a.scale = scale;
  a.softcap = view.get_float("softcap", 0);
  const int64_t window = view.get_int("local_window_size", -1);
  std::optional<AttentionMask<T>> added;
  if (call.has(10)) added.emplace(call, call.in(10), Dims{a.batch, a.heads, a.queries, a.keys}, true);
  a.bias = [&](int64_t b, int64_t h, T* bias) {
    if (added) added->add(b, h, bias);
    const int64_t before = o.before[static_cast<size_t>(b)], total = o.total[static_cast<size_t>(b)];
    for (int64_t i = 0; i < a.queries; ++i) {
      const int64_t at = before + i;
      for (int64_t j = 0; j < a.keys; ++j)
        if (j > at || j >= total || (window > 0 && j <= at - window))
          bias[i * a.keys + j] = -std::numeric_limits<T>::infinity();
    }
  };
  const std::vector<double> sinks =
      call.has(11) ? to_doubles(call.in(11)) : std::vector<double>(static_cast<size_t>(a.heads), 0.0);
  require(call, static_cast<int64_t>(sinks.size()) == a.heads, "head_sink is not [num_heads]");
  if (call.has(11) || view.get_int("smooth_softmax", 0) == 1)
    a.sink = [&](int64_t h) { return sinks[static_cast<size_t>(h)]; };
  a.run();
  const DType type = call.in(0).dtype();
  call.set(0, as(y, type));
  call.set(1, as(keys, type));
  call.set(2, as(values, type));
}

void group_query_attention_op(Call& call) {
  const NodeView& view = call.view;
  for (const char* attr : {"k_quant_type", "v_quant_type"})
    if (view.get_string(attr, "NONE") != "NONE")
      unsupported_error("a quantized cache is not supported", view.node().label());
  if (call.wants(3)) unsupported_error("the output of scores is not supported", view.node().label());
  Operands o;
  read_heads(call, o);
  read_lengths(call, o);
  with_float(call, o.q.dtype(), [&](auto zero) { run<decltype(zero)>(call, o); });
}

constexpr Kernel kKernels[] = {{"com.microsoft", "GroupQueryAttention", group_query_attention_op}};

}  // namespace

std::span<const Kernel> group_query_attention_kernels() { return kKernels; }

}  // namespace mlopt::reference
