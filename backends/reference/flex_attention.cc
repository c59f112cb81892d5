#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "backends/reference/attend.h"
#include "backends/reference/kernels.h"
#include "backends/reference/matmul.h"

namespace mlopt::reference {
namespace {

/// Keys or values with each head repeated for the query heads that share it.
Tensor repeat_heads(const Call& call, const Tensor& x, int64_t heads) {
  const int64_t own = x.dim(1), each = own > 0 ? heads / own : 0;
  if (own < 1 || heads % own != 0) fail(call, fmt::format("{} query heads share {} key heads", heads, own));
  if (each == 1) return x;
  Tensor out(x.dtype(), {x.dim(0), heads, x.dim(2), x.dim(3)});
  const size_t bytes = out.size() == 0 ? 0 : out.bytes() / static_cast<size_t>(out.dim(0) * heads);
  std::byte* o = out.mutable_raw();
  for (int64_t i = 0; i < out.dim(0) * heads && bytes > 0; ++i)
    std::memcpy(o + static_cast<size_t>(i) * bytes, x.raw() + static_cast<size_t>(i / each) * bytes, bytes);
  return out;
}

/// The scores or weights after the body of attribute `name`, if the node has it.
Tensor modified(const Call& call, const char* name, Tensor x) {
  const Attr* attr = call.view.node().attr(name);
  if (!attr) return x;
  const auto* graph = std::get_if<GraphPtr>(&attr->value);
  if (!graph) fail(call, fmt::format("{} is not a graph", name));
  const std::vector<Graph*> bodies = call.view.node().bodies();
  const auto body = std::find(bodies.begin(), bodies.end(), graph->get()) - bodies.begin();
  const Dims dims = x.dims();
  const Datum input(std::move(x));
  const std::vector<Datum> outputs = call.run_body(static_cast<int>(body), std::span(&input, 1));
  require(call, outputs.size() == 1 && outputs[0].tensor().dims() == dims,
          "a modifier must give one tensor of the same shape");
  return outputs[0].tensor();
}

void flex_attention_op(Call& call) {
  const Tensor &q = call.in(0), &k = call.in(1), &v = call.in(2);
  const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && q.dim(0) == v.dim(0) &&
                    k.dim(1) == v.dim(1) && q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2);
  if (!fits)
    fail(call, fmt::format("query {}, key {} and value {} do not fit together", to_string(q.dims()),
                           to_string(k.dims()), to_string(v.dims())));
  // What the modifiers see is in the precision of the softmax; everything is computed in its compute type.
  const DType own = q.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto seen = static_cast<DType>(call.view.get_int("softmax_precision", static_cast<int64_t>(own)));
  if (!is_float(seen)) fail(call, "softmax_precision is no float type");
  const DType type = compute_type(seen);
  const Tensor keys = repeat_heads(call, as(k, type), q.dim(1)), values = repeat_heads(call, as(v, type), q.dim(1));
  MatMulShape s;
  s.m = q.dim(2), s.k = q.dim(3), s.n = k.dim(2);
  s.batch = s.a_batch = s.b_batch = {q.dim(0), q.dim(1)};
  s.b_transposed = true;
  s.out = {q.dim(0), q.dim(1), s.m, s.n};
  Tensor scores = batched_product(call, s, as(q, type), keys);
  const double scale =
      call.view.has("scale") ? call.view.get_float("scale", 1) : 1 / std::sqrt(static_cast<double>(q.dim(3)));
  with_float(call, type, [&](auto zero) {
    using T = decltype(zero);
    T* at = scores.mutable_data<T>();
    for (int64_t i = 0; i < scores.size(); ++i) at[i] *= static_cast<T>(scale);
    scores = as(modified(call, "score_mod", as(scores, seen)), type);
    at = scores.mutable_data<T>();
    for (int64_t i = 0; i < scores.size(); i += s.n)
      softmax_row<T>(at + i, s.n, -std::numeric_limits<double>::infinity());
  });
  scores = as(modified(call, "prob_mod", as(scores, seen)), type);
  call.set(0, as(matmul(call, scores, values), q.dtype()));
}

constexpr Kernel kKernels[] = {{"ai.onnx.preview", "FlexAttention", flex_attention_op}};

}  // namespace

std::span<const Kernel> flex_attention_kernels() { return kKernels; }

}  // namespace mlopt::reference
