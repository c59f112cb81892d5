#include <optional>

#include "backends/reference/activation.h"
#include "backends/reference/broadcast.h"
#include "backends/reference/indices.h"
#include "backends/reference/kernels.h"
#include "backends/reference/layer_normalization.h"
#include "backends/reference/map.h"
#include "backends/reference/softmax.h"

// com.microsoft's fused elementwise, softmax, normalization and embedding operators.
namespace mlopt::reference {
namespace {

Tensor sum_of(const Call& call, const Tensor& x, const Tensor& addend) {
  require(call, addend.dtype() == x.dtype(), "the operands must have one type");
  const Dims dims = broadcast_dims(call, {x.dims(), addend.dims()});
  if (dims != x.dims()) fail(call, to_string(addend.dims()) + " does not broadcast to " + to_string(x.dims()));
  return with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    return broadcast_map<T, T, T>(dims, widened(x), widened(addend), [](T a, T b) { return a + b; });
  });
}

/// fn of each element of input 0, to which input 1 is added first when it is given.
template <class Fn>
void biased_map(Call& call, const Fn& fn) {
  const Tensor& x = call.in(0);
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor sum = call.has(1) ? sum_of(call, x, call.in(1)) : widened(x);
    call.set(0, as(map<T, T>(sum, fn), x.dtype()));
  });
}

void gelu(Call& call) {
  biased_map(call, [](auto x) { return gelu_exact(x); });
}

void fast_gelu(Call& call) {
  biased_map(call, [](auto x) { return gelu_tanh(x); });
}

void quick_gelu(Call& call) {
  const float alpha = call.view.get_float("alpha", 1.702f);
  map_floats(call, [alpha](auto x) { return x * sigmoid(static_cast<decltype(x)>(alpha) * x); });
}

/// x + bias + skip.
void bias_add(Call& call) {
  const Tensor& x = call.in(0);
  const Tensor skip = widened(call.in(2));
  call.set(0, as(sum_of(call, sum_of(call, x, call.in(1)), skip), x.dtype()));
}

/// Softmax over the axes from `axis` on of data + bias; the bias has fewer rows, each of which serves several rows of
/// the data: neighbouring ones (inner broadcast), or every so many.
void bias_softmax(Call& call) {
  const Tensor &x = call.in(0), &bias = call.in(1);
  const int axis = axis_of(call, call.view.get_int("axis", 1), x.rank());
  const bool inner = call.view.get_int("is_inner_broadcast", 0) != 0;
  int64_t rows = 1, length = 1;
  for (int i = 0; i < x.rank(); ++i) (i < axis ? rows : length) *= x.dim(i);
  const int64_t bias_rows = length == 0 ? 0 : bias.size() / length;
  require(call, bias.dtype() == x.dtype(), "the operands must have one type");
  require(call, x.size() == 0 || (bias_rows > 0 && bias.size() == bias_rows * length && rows % bias_rows == 0),
          "the bias does not fit the data");
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x), added = widened(bias);
    Tensor out(wide.dtype(), x.dims());
    T* o = out.mutable_data<T>();
    for (int64_t row = 0; row < rows && length > 0; ++row) {
      const int64_t bias_row = inner ? row / (rows / bias_rows) : row % bias_rows;
      for (int64_t i = 0; i < length; ++i)
        o[row * length + i] = wide.data<T>()[row * length + i] + added.data<T>()[bias_row * length + i];
      softmax_line(o + row * length, o + row * length, length, 1);
    }
    call.set(0, as(out, x.dtype()));
  });
}

/// Statistics are kept in float32 unless the graph is in double.
DType statistics_type(const Tensor& x) { return x.dtype() == DType::kF64 ? x.dtype() : DType::kF32; }

/// Normalizes input + skip + bias over the last axis. Outputs: the result, the mean, the inverse deviation, the sum.
void skip_normalization(Call& call, bool centered) {
  const int bias_input = centered ? 4 : 3;
  const Tensor& x = call.in(0);
  require(call, x.rank() > 0, "the input must have an axis to normalize");
  Tensor sum = sum_of(call, x, call.in(1));
  if (call.has(bias_input)) sum = sum_of(call, sum, widened(call.in(bias_input)));
  // The sum is stored in the type of the input, and the result computed from what is stored.
  sum = as(sum, x.dtype());
  std::optional<Tensor> shift;
  if (centered && call.has(3)) shift = call.in(3);
  const NormalizedRows rows =
      normalize_rows(call, sum, x.rank() - 1, call.in(2), shift, {centered, call.view.get_float("epsilon", 1e-12f)});
  call.set(0, as(rows.y, x.dtype()));
  call.set(1, as(rows.mean, statistics_type(x)));
  call.set(2, as(rows.inverse_deviation, statistics_type(x)));
  call.set(3, sum);
}

void skip_layer_normalization(Call& call) { skip_normalization(call, /*centered=*/true); }
void skip_simplified_layer_normalization(Call& call) { skip_normalization(call, /*centered=*/false); }

/// Adds the rows of `table` that `ids` name to `sum` [tokens, width], both in the type of the sum.
template <class T>
void add_rows(const Call& call, const Tensor& table, const std::vector<int64_t>& ids, int64_t width, T* sum) {
  require(call, table.rank() == 2 && table.dim(1) == width, "the embedding tables must have the same width");
  const Tensor wide = as(table, dtype_of<T>());
  for (size_t token = 0; token < ids.size(); ++token)
    for (int64_t i = 0; i < width; ++i)
      sum[static_cast<int64_t>(token) * width + i] += wide.data<T>()[ids[token] * width + i];
}

/// The position of each token: given for all samples or for one, else counted from 0.
std::vector<int64_t> positions(const Call& call, const Dims& tokens, int64_t table_rows) {
  std::vector<int64_t> own;
  if (call.has(8))
    own = axis_indices(call, call.in(8), table_rows);
  else
    for (int64_t i = 0; i < tokens[1]; ++i) own.push_back(i);
  require(call, tokens[1] <= table_rows || call.has(8), "the sequence is longer than the position table");
  const auto total = static_cast<size_t>(tokens[0] * tokens[1]);
  require(call, own.size() == total || static_cast<int64_t>(own.size()) == tokens[1],
          "the positions do not fit the tokens");
  std::vector<int64_t> all(total);
  for (size_t i = 0; i < total; ++i) all[i] = own[i % own.size()];
  return all;
}

/// How many tokens of each sample the mask (input 7) keeps; zero without one.
Tensor mask_index(const Call& call, const Dims& tokens) {
  Tensor out = Tensor::zeros(DType::kI32, {tokens[0]});
  if (!call.has(7)) return out;
  require(call, call.in(7).dims() == tokens, "the mask must have the shape of the tokens");
  const std::vector<int64_t> mask = to_ints(call.in(7));
  int32_t* counts = out.mutable_data<int32_t>();
  for (size_t i = 0; i < mask.size(); ++i) counts[static_cast<int64_t>(i) / tokens[1]] += mask[i] == 1 ? 1 : 0;
  return out;
}

/// The sum of word, position and segment embeddings, normalized over the last axis.
void embed_layer_normalization(Call& call) {
  const Tensor &ids = call.in(0), &words = call.in(2), &places = call.in(3);
  require(call, ids.rank() == 2 && words.rank() == 2 && places.rank() == 2,
          "the tokens and the tables must be matrices");
  const int64_t width = words.dim(1);
  with_float(call, words.dtype(), [&](auto tag) {
    using T = decltype(tag);
    Tensor sum = Tensor::zeros(dtype_of<T>(), {ids.dim(0), ids.dim(1), width});
    T* rows = sum.mutable_data<T>();
    add_rows(call, words, axis_indices(call, ids, words.dim(0)), width, rows);
    add_rows(call, places, positions(call, ids.dims(), places.dim(0)), width, rows);
    if (call.has(1) && call.has(4)) {
      require(call, call.in(1).dims() == ids.dims() && call.in(4).rank() == 2,
              "the segments must have the shape of the tokens");
      add_rows(call, call.in(4), axis_indices(call, call.in(1), call.in(4).dim(0)), width, rows);
    }
    const NormalizedRows out = normalize_rows(call, sum, 2, call.in(5), std::optional<Tensor>(call.in(6)),
                                              {true, call.view.get_float("epsilon", 1e-12f)});
    call.set(0, as(out.y, words.dtype()));
    call.set(1, mask_index(call, ids.dims()));
    call.set(2, as(sum, words.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"com.microsoft", "BiasAdd", bias_add},
    {"com.microsoft", "BiasGelu", gelu},
    {"com.microsoft", "BiasSoftmax", bias_softmax},
    {"com.microsoft", "EmbedLayerNormalization", embed_layer_normalization},
    {"com.microsoft", "FastGelu", fast_gelu},
    {"com.microsoft", "Gelu", gelu},
    {"com.microsoft", "QuickGelu", quick_gelu},
    {"com.microsoft", "SkipLayerNormalization", skip_layer_normalization},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization},
};

}  // namespace

std::span<const Kernel> contrib_fused_kernels() { return kKernels; }

}  // namespace mlopt::reference
