#include <fmt/core.h>

#include "backends/reference/contrib_attention.h"
#include "backends/reference/heads.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// Part `part` of x [batch, rows, heads, parts, size] as [batch, rows, heads * size].
Tensor unpacked(const Call& call, const Tensor& x, int64_t part) {
  const Dims& d = x.dims();
  Tensor out(x.dtype(), {d[0], d[1], d[2] * d[4]});
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* o = out.mutable_data<T>();
    for (int64_t i = 0; i < d[0] * d[1] * d[2]; ++i, o += d[4])
      std::copy_n(x.data<T>() + (i * d[3] + part) * d[4], d[4], o);
  });
  return out;
}

/// x [batch, rows, width] + bias[from, from + width).
Tensor with_bias(const Call& call, Tensor x, const Tensor* bias, int64_t from) {
  if (!bias) return x;
  const int64_t width = x.dim(2);
  require(call, from + width <= bias->size(), "the bias is shorter than queries, keys and values are wide");
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* o = x.mutable_data<T>();
    for (int64_t i = 0; i < x.size(); ++i) o[i] += bias->data<T>()[from + i % width];
  });
  return x;
}

/// Queries, keys and values as [batch, heads, rows, size] from whichever form the inputs have.
ContribAttention read_operands(const Call& call, int64_t heads) {
  Tensor q = widened(call.in(0)), k, v;
  const DType type = q.dtype();
  const Tensor given = call.has(3) ? as(call.in(3), type) : Tensor();
  const Tensor* bias = call.has(3) ? &given : nullptr;
  ContribAttention a{};
  if (q.rank() == 5) {
    require(call, q.dim(2) == heads && q.dim(3) == 3 && !call.has(1) && !call.has(2),
            "packed queries must be [batch, rows, heads, 3, size]");
    const Tensor all = q;
    q = unpacked(call, all, 0), k = unpacked(call, all, 1), v = unpacked(call, all, 2);
  } else if (call.in(1).rank() == 5) {
    const Tensor both = as(call.in(1), type);
    require(call, both.dim(2) == heads && both.dim(3) == 2, "packed keys must be [batch, rows, heads, 2, size]");
    k = unpacked(call, both, 0), v = unpacked(call, both, 1);
  } else {
    k = as(call.in(1), type), v = as(call.in(2), type);
  }
  require(call, q.rank() == 3, "the query must have rank 3 or 5");
  const int64_t width = q.dim(2);
  a.q = split_heads(call, with_bias(call, q, bias, 0), heads);
  if (k.rank() == 4) {
    // Keys and values of an encoder, with their bias added already.
    a.k = k, a.v = v;
  } else {
    require(call, k.rank() == 3 && v.rank() == 3, "key and value must have rank 3 or 4");
    a.k = split_heads(call, with_bias(call, k, bias, width), heads);
    a.v = split_heads(call, with_bias(call, v, bias, 2 * width), heads);
  }
  return a;
}

void multi_head_attention_op(Call& call) {
  const NodeView& view = call.view;
  if (call.has(9)) unsupported_error("a cache indirection is not supported", view.node().label());
  ContribAttention a = read_operands(call, view.get_int("num_heads"));
  require(call, call.has(6) == call.has(7), "past_key and past_value go together");
  if (call.has(6)) {
    const Tensor past_k = as(call.in(6), a.q.dtype()), past_v = as(call.in(7), a.q.dtype());
    a.k = append_rows(call, past_k, a.k);
    a.v = append_rows(call, past_v, a.v);
    a.past = past_k.dim(2);
  }
  if (call.has(4))
    a.mask =
        contrib_mask(call, call.in(4), a.q.dim(0), a.q.dim(2), a.k.dim(2), view.get_float("mask_filter_value", -10000));
  a.bias = call.has(5) ? &call.in(5) : nullptr;
  const DType type = call.in(0).dtype();
  Tensor scores;
  call.set(0, as(a.run(call, call.wants(3) ? &scores : nullptr), type));
  if (call.wants(1)) call.set(1, as(a.k, type));
  if (call.wants(2)) call.set(2, as(a.v, type));
  if (call.wants(3)) call.set(3, as(scores, type));
}

constexpr Kernel kKernels[] = {{"com.microsoft", "MultiHeadAttention", multi_head_attention_op}};

}  // namespace

std::span<const Kernel> multi_head_attention_kernels() { return kKernels; }

}  // namespace mlopt::reference
