#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"
#include "backends/reference/qlinear.h"
#include "backends/reference/quantize.h"

// com.microsoft's products of quantized matrices.
namespace mlopt::reference {
namespace {

const Tensor* optional_input(const Call& call, int i) { return call.has(i) ? &call.in(i) : nullptr; }

/// product * a_scale * b_scale + bias in `type`; scales and the bias broadcast along the columns.
Tensor scaled_product(const Call& call, const Tensor& product, const Tensor& a_scale, const Tensor& b_scale,
                      const Tensor* bias, DType type) {
  const auto apply = [&](const Tensor& x, const Tensor& factor, const auto& fn) {
    const Tensor wide = as(factor, DType::kF64);
    if (broadcast_dims(call, {x.dims(), wide.dims()}) != x.dims())
      fail(call, "a scale or the bias does not fit the result");
    return broadcast_map<double, double, double>(x.dims(), x, wide, fn);
  };
  const auto times = [](double x, double y) { return x * y; };
  Tensor out = apply(apply(product, a_scale, times), b_scale, times);
  if (bias) out = apply(out, *bias, [](double x, double y) { return x + y; });
  return as(out, type);
}

Tensor product(const Call& call, const Tensor& a, const Tensor* a_zero, const Tensor& b, const Tensor* b_zero) {
  return exact_matmul(call, centred(call, a, a_zero, std::max(0, a.rank() - 1)),
                      centred(call, b, b_zero, std::max(0, b.rank() - 1)));
}

void matmul_integer_to_float(Call& call) {
  const Tensor sums = product(call, call.in(0), optional_input(call, 4), call.in(1), optional_input(call, 5));
  call.set(0, scaled_product(call, sums, call.in(2), call.in(3), optional_input(call, 6), call.in(3).dtype()));
}

void dynamic_quantize_matmul(Call& call) {
  const Tensor& a = call.in(0);
  const DynamicallyQuantized codes = dynamically_quantized(call, a);
  const Tensor sums = product(call, codes.values, &codes.zero_point, call.in(1), optional_input(call, 3));
  call.set(0, scaled_product(call, sums, codes.scale, call.in(2), optional_input(call, 4), a.dtype()));
}

void matmul_integer16(Call& call) {
  call.set(0, as(as(product(call, call.in(0), nullptr, call.in(1), nullptr), DType::kI64), DType::kI32));
}

/// The rows and columns of a matrix exchanged.
Centred transposed(const Call& call, const Centred& x) {
  require(call, x.values.rank() == 2, "the operands must be matrices");
  const int64_t rows = x.values.dim(0), columns = x.values.dim(1);
  Centred out{Tensor(DType::kF64, {columns, rows}), x.largest};
  double* o = out.values.mutable_data<double>();
  const double* in = x.values.data<double>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) o[c * rows + r] = in[r * columns + c];
  return out;
}

/// alpha * A B + C: quantized when it has an output scale, else float.
void qgemm(Call& call) {
  const bool trans_a = call.view.get_int("transA", 0) != 0, trans_b = call.view.get_int("transB", 0) != 0;
  require(call, call.in(0).rank() == 2 && call.in(3).rank() == 2, "the operands must be matrices");
  Centred a = centred(call, call.in(0), optional_input(call, 2), 0);
  Centred b = centred(call, call.in(3), optional_input(call, 5), trans_b ? 0 : 1);
  if (trans_a) a = transposed(call, a);
  if (trans_b) b = transposed(call, b);
  Tensor sums = exact_matmul(call, a, b);
  if (call.has(6)) {
    const Tensor bias = as(call.in(6), DType::kF64);
    if (broadcast_dims(call, {sums.dims(), bias.dims()}) != sums.dims()) fail(call, "C does not fit the result");
    sums = broadcast_map<double, double, double>(sums.dims(), sums, bias, [](double x, double y) { return x + y; });
  }
  const float alpha = call.view.get_float("alpha", 1.0f);
  const Tensor& a_scale = call.in(1);
  const Tensor scale = as(Tensor::scalar<double>(number_in(call, 1, 1) * static_cast<double>(alpha)), a_scale.dtype());
  if (!call.has(8)) return call.set(0, scaled_product(call, sums, scale, call.in(4), nullptr, a_scale.dtype()));
  call.set(0, requantized(call, sums, requantization_factors(call, scale, call.in(4), call.in(7)), 1, call.in(8)));
}

constexpr Kernel kKernels[] = {
    {"com.microsoft", "DynamicQuantizeMatMul", dynamic_quantize_matmul},
    {"com.microsoft", "MatMulInteger16", matmul_integer16},
    {"com.microsoft", "MatMulIntegerToFloat", matmul_integer_to_float},
    {"com.microsoft", "QGemm", qgemm},
};

}  // namespace

std::span<const Kernel> contrib_qmatmul_kernels() { return kKernels; }

}  // namespace mlopt::reference
