#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "backends/reference/inner_call.h"
#include "backends/reference/kernels.h"
#include "backends/reference/matmul.h"
#include "backends/reference/named_activation.h"

namespace mlopt::reference {
namespace {

/// y = alpha * y + beta * c, with c broadcast to y's shape (c may be null).
template <class T>
void scale_and_add(const Call& call, Tensor& y, double alpha, const Tensor* c, double beta) {
  T* out = y.mutable_data<T>();
  // Integers are scaled in double only when they must be.
  const auto scaled = [](double factor, T v) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(factor) * v;
    return factor == 1 ? v : static_cast<T>(factor * static_cast<double>(v));
  };
  if (alpha != 1)
    for (int64_t i = 0; i < y.size(); ++i) out[i] = scaled(alpha, out[i]);
  if (!c || beta == 0) return;
  if (broadcast_dims(call, {y.dims(), c->dims()}) != y.dims())
    fail(call, fmt::format("C of shape {} does not broadcast to {}", to_string(c->dims()), to_string(y.dims())));
  const T* bias = c->data<T>();
  Broadcast<1>(y.dims(), {c->dims()}).for_runs([&](int64_t start, int64_t count, const auto& at, const auto& step) {
    for (int64_t i = 0; i < count; ++i) out[start + i] += scaled(beta, bias[at[0] + i * step[0]]);
  });
}

/// Rank 2, or (as the first opsets allowed) flattened to it after the first axis.
Dims matrix_dims(const Call& call, const Tensor& x) {
  if (x.rank() == 2) return x.dims();
  if (x.rank() < 2 || call.view.opset() >= 7 || !call.view.node().domain.empty())
    fail(call, fmt::format("Gemm multiplies matrices, not a tensor of shape {}", to_string(x.dims())));
  return {x.dim(0), std::accumulate(x.dims().begin() + 1, x.dims().end(), int64_t{1}, std::multiplies<>())};
}

Tensor gemm_result(const Call& call) {
  const Tensor a = widened(call.in(0)), b = widened(call.in(1));
  if (a.dtype() != b.dtype()) fail(call, "A and B have different types");
  MatMulShape s;
  s.a_transposed = call.view.get_int("transA", 0) != 0;
  s.b_transposed = call.view.get_int("transB", 0) != 0;
  const Dims da = matrix_dims(call, a), db = matrix_dims(call, b);
  s.m = da[s.a_transposed ? 1 : 0], s.k = da[s.a_transposed ? 0 : 1], s.n = db[s.b_transposed ? 0 : 1];
  if (db[s.b_transposed ? 1 : 0] != s.k)
    fail(call, fmt::format("inner dimensions differ: {} times {} (transA {}, transB {})", to_string(da), to_string(db),
                           s.a_transposed, s.b_transposed));
  s.out = {s.m, s.n};
  Tensor y = batched_product(call, s, a, b);
  const Tensor c = call.has(2) ? as(call.in(2), y.dtype()) : Tensor();
  with_number(call, y.dtype(), [&](auto zero) {
    scale_and_add<decltype(zero)>(call, y, call.view.get_float("alpha", 1), call.has(2) ? &c : nullptr,
                                  call.view.get_float("beta", 1));
  });
  return y;
}

void gemm_op(Call& call) { call.set(0, as(gemm_result(call), call.in(0).dtype())); }

void fused_gemm(Call& call) {
  const std::string name = call.view.get_string("activation", "");
  auto activation = find_activation(name);
  if (!name.empty() && !activation) fail(call, fmt::format("unknown activation '{}'", name));
  Tensor y = gemm_result(call);
  with_float(call, y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (!activation) return;
    activation->alpha = call.view.get_float("activation_alpha", static_cast<float>(activation->alpha));
    activation->beta = call.view.get_float("activation_beta", static_cast<float>(activation->beta));
    T* out = y.mutable_data<T>();
    for (int64_t i = 0; i < y.size(); ++i) out[i] = (*activation)(out[i]);
  });
  call.set(0, as(y, call.in(0).dtype()));
}

/// Copies [d0, rest..., dn] to [rest..., d0, dn]: the operand of a product whose first axis is a matrix axis.
Tensor first_axis_inward(const Call& call, const Tensor& x) {
  Dims dims(x.dims().begin() + 1, x.dims().end());
  dims.insert(dims.end() - 1, x.dim(0));
  Tensor out(x.dtype(), dims);
  const int64_t first = x.dim(0), inner = x.dim(x.rank() - 1);
  const int64_t middle = out.size() == 0 ? 0 : out.size() / (first * inner);
  with_number(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = x.data<T>();
    T* o = out.mutable_data<T>();
    for (int64_t m = 0; m < middle; ++m)
      for (int64_t f = 0; f < first; ++f)
        std::copy_n(in + (f * middle + m) * inner, inner, o + (m * first + f) * inner);
  });
  return out;
}

/// com.microsoft's MatMul with a factor and transposed operands.
void fused_matmul(Call& call) {
  const NodeView& v = call.view;
  const auto operand = [&](int i, const char* trans, const char* trans_batch, bool& transposed) {
    Tensor x = widened(call.in(i));
    transposed = v.get_int(trans, 0) != 0 && x.rank() >= 2;
    if (v.get_int(trans_batch, 0) != 0) {
      require(call, x.rank() >= 3, "a transposed batch needs three dimensions or more");
      x = first_axis_inward(call, x);
    }
    return x;
  };
  bool a_transposed = false, b_transposed = false;
  const Tensor a = operand(0, "transA", "transBatchA", a_transposed);
  const Tensor b = operand(1, "transB", "transBatchB", b_transposed);
  if (a.dtype() != b.dtype()) fail(call, "A and B have different types");
  Dims da = a.dims(), db = b.dims();
  if (a_transposed) std::swap(da.back(), da[da.size() - 2]);
  if (b_transposed) std::swap(db.back(), db[db.size() - 2]);
  MatMulShape s = matmul_shape(call, da, db);
  s.a_transposed = a_transposed, s.b_transposed = b_transposed;
  Tensor y = batched_product(call, s, a, b);
  with_float(call, y.dtype(),
             [&](auto zero) { scale_and_add<decltype(zero)>(call, y, v.get_float("alpha", 1), nullptr, 0); });
  call.set(0, as(y, call.in(0).dtype()));
}

/// A product, to which a row and another tensor are added, and an activation.
void matmul_add(Call& call) {
  const auto activation = fused_activation(call);
  Datum sum = run_inner(call, fused_matmul, std::vector<Datum>{call.datum(0), call.datum(1)}).front();
  for (const int i : {2, 3})
    if (call.has(i)) sum = run_inner(call, find_kernel("", "Add"), std::vector<Datum>{sum, call.datum(i)}).front();
  Tensor y = widened(sum.tensor());
  with_float(call, y.dtype(), [&](auto zero) {
    auto* out = y.mutable_data<decltype(zero)>();
    for (int64_t i = 0; i < y.size() && activation; ++i) out[i] = (*activation)(out[i]);
  });
  call.set(0, as(y, call.in(0).dtype()));
}

constexpr Kernel kKernels[] = {
    {"", "Gemm", gemm_op},
    {"com.microsoft", "FusedGemm", fused_gemm},
    {"com.microsoft", "FusedMatMul", fused_matmul},
    {"com.microsoft", "TransposeMatMul", fused_matmul},
    {"mlopt", "MatMulAdd", matmul_add},
};

}  // namespace

std::span<const Kernel> gemm_op_kernels() { return kKernels; }

}  // namespace mlopt::reference
