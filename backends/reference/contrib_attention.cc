#include "backends/reference/contrib_attention.h"

#include <fmt/core.h>

#include <limits>
#include <optional>

#include "backends/reference/attention_mask.h"
#include "backends/reference/heads.h"
#include "backends/reference/kernels.h"
#include "backends/reference/matmul.h"

namespace mlopt::reference {
namespace {

/// x W + bias of Attention, [batch, rows, the widths of q, k and v].
Tensor project(const Call& call, const Tensor& x, const Tensor& w, const Tensor* bias) {
  require(call, x.rank() == 3 && w.rank() == 2, "the input must have rank 3 and the weights rank 2");
  Tensor y = matmul(call, x, w);
  require(call, !bias || bias->size() == w.dim(1), "the bias is not as long as the weights are wide");
  with_float(call, y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* out = y.mutable_data<T>();
    for (int64_t i = 0; i < y.size() && bias; ++i) out[i] += bias->data<T>()[i % bias->size()];
  });
  return y;
}

/// Attention of x W + bias, whose mask and past are inputs `mask` and `past` and whose bias of scores is `bias`.
void self_attention(Call& call, const Tensor& projected, DType type, int mask, int past, int bias) {
  const NodeView& v = call.view;
  for (const char* attr : {"do_rotary", "past_present_share_buffer"})
    if (v.get_int(attr, 0) != 0)
      unsupported_error(fmt::format("attribute {} is not supported", attr), v.node().label());
  const int64_t heads = v.get_int("num_heads"), width = projected.dim(2);
  std::vector<int64_t> sizes = v.get_ints("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  require(call,
          heads > 0 && sizes.size() == 3 && sizes[0] > 0 && sizes[0] == sizes[1] && sizes[0] % heads == 0 &&
              sizes[2] > 0 && sizes[2] % heads == 0 && sizes[0] + sizes[1] + sizes[2] == width,
          "the weights do not make queries, keys and values of num_heads heads");
  const int64_t size = sizes[0] / heads, value_size = sizes[2] / heads;
  ContribAttention a{};
  a.q = columns_as_heads(call, projected, 0, heads, size);
  a.k = columns_as_heads(call, projected, sizes[0], heads, size);
  a.v = columns_as_heads(call, projected, 2 * sizes[0], heads, value_size);
  if (call.has(past)) {
    const Tensor before = as(call.in(past), projected.dtype());
    const Dims want{2, a.k.dim(0), heads, before.rank() == 5 ? before.dim(3) : 0, size};
    require(call, before.dims() == want && size == value_size, "the past is not [2, batch, heads, rows, size]");
    const auto half = static_cast<std::ptrdiff_t>(before.bytes() / 2);
    const std::span<const std::byte> bytes = before.raw_bytes();
    const auto owner = std::make_shared<Tensor>(before);
    const Dims dims(want.begin() + 1, want.end());
    a.past = want[3];
    a.k = append_rows(call, Tensor::view(before.dtype(), dims, bytes.first(static_cast<size_t>(half)), owner), a.k);
    a.v = append_rows(call, Tensor::view(before.dtype(), dims, bytes.subspan(static_cast<size_t>(half)), owner), a.v);
  }
  if (call.has(mask))
    a.mask =
        contrib_mask(call, call.in(mask), a.q.dim(0), a.q.dim(2), a.k.dim(2), v.get_float("mask_filter_value", -10000));
  a.bias = bias >= 0 && call.has(bias) ? &call.in(bias) : nullptr;
  call.set(0, as(a.run(call), type));
  if (call.wants(1)) call.set(1, as(stacked(call, a.k, a.v), type));
}

void attention_op(Call& call) {
  const Tensor x = widened(call.in(0));
  const Tensor bias = call.has(2) ? as(call.in(2), x.dtype()) : Tensor();
  const Tensor y = project(call, x, as(call.in(1), x.dtype()), call.has(2) ? &bias : nullptr);
  self_attention(call, y, call.in(0).dtype(), 3, 4, 5);
}

/// (x - zero point) * scale, one scale and zero point for all or for each column.
Tensor dequantized(const Call& call, const Tensor& x, const Tensor& scale, const Tensor* zero_point) {
  const int64_t columns = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  const std::vector<double> values = to_doubles(x), scales = to_doubles(scale);
  const std::vector<double> zeros = zero_point ? to_doubles(*zero_point) : std::vector<double>{0};
  const auto fits = [&](size_t n) { return n == 1 || static_cast<int64_t>(n) == columns; };
  require(call, fits(scales.size()) && fits(zeros.size()), "scales and zero points must be one or one for each column");
  Tensor out(compute_type(scale.dtype()), x.dims());
  with_float(call, scale.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* o = out.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t column = i % static_cast<size_t>(columns);
      o[i] =
          static_cast<T>((values[i] - zeros[zeros.size() == 1 ? 0 : column]) * scales[scales.size() == 1 ? 0 : column]);
    }
  });
  return out;
}

void quantized_attention_op(Call& call) {
  const auto optional = [&](int i) { return call.has(i) ? &call.in(i) : nullptr; };
  const Tensor x = dequantized(call, call.in(0), call.in(3), optional(6));
  const Tensor w = as(dequantized(call, call.in(1), call.in(4), optional(7)), x.dtype());
  const Tensor bias = as(call.in(2), x.dtype());
  self_attention(call, project(call, x, w, &bias), call.in(2).dtype(), 5, 8, -1);
}

constexpr Kernel kKernels[] = {
    {"com.microsoft", "Attention", attention_op},
    {"com.microsoft", "QAttention", quantized_attention_op},
};

}  // namespace

Tensor contrib_mask(const Call& call, const Tensor& mask, int64_t batch, int64_t queries, int64_t keys, double hidden) {
  const std::vector<int64_t> given = to_ints(mask);
  const Dims& d = mask.dims();
  const auto at = [&](int64_t i) { return given[static_cast<size_t>(i)]; };
  // Which key j of query i of sample b is seen, for each of the forms.
  std::function<bool(int64_t, int64_t, int64_t)> seen;
  int64_t rows = 1;
  if (d == Dims{batch})
    seen = [&](int64_t b, int64_t, int64_t j) { return j < at(b); };
  else if (d == Dims{2 * batch})
    seen = [&](int64_t b, int64_t, int64_t j) { return j < at(b) && j >= at(batch + b); };
  else if (d == Dims{batch, keys})
    seen = [&](int64_t b, int64_t, int64_t j) { return at(b * keys + j) > 0; };
  else if (d == Dims{batch, queries, keys}) {
    rows = queries;
    seen = [&](int64_t b, int64_t i, int64_t j) { return at((b * queries + i) * keys + j) > 0; };
  } else if (d.size() == 4 && d[0] == batch && d[1] == 1 && d[2] == d[3] && d[3] >= keys && keys >= queries) {
    rows = queries;
    seen = [&](int64_t b, int64_t i, int64_t j) { return at((b * d[2] + keys - queries + i) * d[3] + j) > 0; };
  } else {
    fail(call,
         fmt::format("a mask of shape {} for {} samples, {} queries and {} keys", to_string(d), batch, queries, keys));
  }
  Tensor out(DType::kF64, {batch, 1, rows, keys});
  double* o = out.mutable_data<double>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < keys; ++j) *o++ = seen(b, i, j) ? 0 : hidden;
  return out;
}

Tensor columns_as_heads(const Call& call, const Tensor& x, int64_t from, int64_t heads, int64_t size) {
  Tensor out(x.dtype(), {x.dim(0), heads, x.dim(1), size});
  const int64_t batch = x.dim(0), rows = x.dim(1), width = x.dim(2);
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = x.data<T>() + from;
    T* o = out.mutable_data<T>();
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t r = 0; r < rows; ++r, o += size) std::copy_n(in + (b * rows + r) * width + h * size, size, o);
  });
  return out;
}

Tensor ContribAttention::run(const Call& call, Tensor* scores) const {
  const bool causal = call.view.get_int("unidirectional", 0) != 0;
  Tensor y;
  with_float(call, q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Attend<T> a = attend_heads<T>(call, q, k, v, true, y);
    const Dims full{a.batch, a.heads, a.queries, a.keys};
    if (const float scale = call.view.get_float("scale", 0); scale != 0) a.scale = scale;
    a.hidden_are_zeros = false;  // as ONNX Runtime has it
    std::optional<AttentionMask<T>> hidden, added;
    if (mask.dtype() != DType::kUndefined) hidden.emplace(call, mask, full, false);
    if (bias) added.emplace(call, *bias, full, false);
    a.bias = [&](int64_t b, int64_t h, T* sum) {
      if (hidden) hidden->add(b, h, sum);
      if (added) added->add(b, h, sum);
      // The last query sees all keys, as ONNX Runtime has it.
      for (int64_t i = 0; i < a.queries - 1 && causal; ++i)
        for (int64_t j = past + i + 1; j < a.keys; ++j) sum[i * a.keys + j] = -std::numeric_limits<T>::infinity();
    };
    if (!hidden && !added && !causal) a.bias = nullptr;
    if (scores) {
      *scores = Tensor(q.dtype(), full);
      a.captured = scores->mutable_data<T>();
    }
    a.run();
  });
  return y;
}

std::span<const Kernel> contrib_attention_kernels() { return kKernels; }

}  // namespace mlopt::reference
