#include "backends/reference/qlinear.h"

#include <cmath>

#include "backends/reference/broadcast.h"
#include "backends/reference/conv.h"
#include "backends/reference/kernels.h"
#include "backends/reference/matmul.h"
#include "backends/reference/quantize.h"
#include "core/base/error.h"

namespace mlopt::reference {
namespace {

/// The narrower float type in which a sum of `terms` products is exact.
DType exact_type(const Centred& a, const Centred& b, int64_t terms) {
  constexpr double kFloatLimit = 1 << 24;
  return a.largest * b.largest * static_cast<double>(terms) < kFloatLimit ? DType::kF32 : DType::kF64;
}

const Tensor* optional_input(const Call& call, int i) { return call.has(i) ? &call.in(i) : nullptr; }

/// Convolution of x (input `xi`, zero point `xz`) with w (input `wi`, zero point `wz`); padding counts as the zero
/// point.
Tensor exact_convolution(const Call& call, int xi, int xz, int wi, int wz) {
  const Tensor* x_zero = optional_input(call, xz);
  require(call, !x_zero || x_zero->size() == 1, "the input has one zero point");
  const Centred x = centred(call, call.in(xi), x_zero, 0), w = centred(call, call.in(wi), optional_input(call, wz), 0);
  const Dims& dims = w.values.dims();
  const int64_t terms = dims.empty() || dims[0] == 0 ? 1 : w.values.size() / dims[0];
  const DType type = exact_type(x, w, terms);
  return as(convolution(call, as(x.values, type), as(w.values, type), nullptr), DType::kF64);
}

/// Sums wrap where they leave 32 bits, as the standard allows.
Tensor to_int32(const Tensor& sums) { return as(as(sums, DType::kI64), DType::kI32); }

void conv_integer(Call& call) { call.set(0, to_int32(exact_convolution(call, 0, 2, 1, 3))); }

void qlinear_conv(Call& call) {
  Tensor sums = exact_convolution(call, 0, 2, 3, 5);
  const int64_t filters = sums.dim(1),
                plane = filters == 0 || sums.dim(0) == 0 ? 1 : sums.size() / sums.dim(0) / filters;
  if (call.has(8)) {
    const std::vector<double> bias = to_doubles(call.in(8));
    require(call, static_cast<int64_t>(bias.size()) == filters, "the bias must have one element for each filter");
    double* sum = sums.mutable_data<double>();
    for (int64_t i = 0; i < sums.size(); ++i) sum[i] += bias[static_cast<size_t>(i / plane % filters)];
  }
  const std::vector<double> factors = requantization_factors(call, call.in(1), call.in(4), call.in(6));
  call.set(0, requantized(call, sums, factors, 1, call.in(7)));
}

/// com.microsoft's form, which knows channels that come last.
void qlinear_conv_either(Call& call) {
  if (call.view.get_int("channels_last", 0) != 0)
    unsupported_error("QLinearConv with channels last cannot be run", call.view.node().label(),
                      "export the model without layout optimization");
  qlinear_conv(call);
}

/// The zero point of rows has the shape [M] or [..., M, 1], that of columns [N] or [..., 1, N].
Tensor exact_product(const Call& call, int ai, int az, int bi, int bz) {
  const Tensor &a = call.in(ai), &b = call.in(bi);
  const Centred left = centred(call, a, optional_input(call, az), std::max(0, a.rank() - 2));
  const Centred right = centred(call, b, optional_input(call, bz), std::max(0, b.rank() - 1));
  return exact_matmul(call, left, right);
}

void matmul_integer(Call& call) { call.set(0, to_int32(exact_product(call, 0, 2, 1, 3))); }

/// The scales of a go with the rows, those of b with the columns.
void qlinear_matmul(Call& call) {
  const Tensor sums = exact_product(call, 0, 2, 3, 5);
  const Tensor &a_scale = call.in(1), &b_scale = call.in(4), &y_scale = call.in(6);
  if (a_scale.size() == 1) {
    const auto factors = requantization_factors(call, a_scale, b_scale, y_scale);
    return call.set(0, requantized(call, sums, factors, sums.rank() - 1, call.in(7)));
  }
  // With a scale for each row the columns' scales are applied first, exactly enough in double.
  const Tensor columns = as(b_scale, DType::kF64);
  require(call, columns.size() == 1 || (sums.rank() > 0 && columns.size() == sums.dim(sums.rank() - 1)),
          "b_scale must be one number or one for each column");
  const Tensor scaled = broadcast_map<double, double, double>(sums.dims(), sums, columns.reshaped({columns.size()}),
                                                              [](double x, double s) { return x * s; });
  const auto factors = requantization_factors(call, a_scale, Tensor::scalar<float>(1), y_scale);
  call.set(0, requantized(call, scaled, factors, sums.rank() - 2, call.in(7)));
}

constexpr Kernel kKernels[] = {
    {"", "ConvInteger", conv_integer},
    {"", "MatMulInteger", matmul_integer},
    {"", "QLinearConv", qlinear_conv},
    {"", "QLinearMatMul", qlinear_matmul},
    {"com.microsoft", "QLinearConv", qlinear_conv_either},
};

}  // namespace

Centred centred(const Call& call, const Tensor& x, const Tensor* zero_point, int axis) {
  if (zero_point && zero_point->dtype() != x.dtype()) fail(call, "the zero point must have the type of the operand");
  const Tensor one = Tensor::scalar<double>(1);
  Centred out;
  if (zero_point && zero_point->size() > 1 && zero_point->rank() == x.rank() && x.rank() > 1) {
    const Tensor zeros = as(*zero_point, DType::kF64);
    if (broadcast_dims(call, {x.dims(), zeros.dims()}) != x.dims())
      fail(call, "the zero point does not fit its operand");
    out.values = broadcast_map<double, double, double>(x.dims(), as(x, DType::kF64), zeros,
                                                       [](double value, double zero) { return value - zero; });
  } else {
    const Dims scales = zero_point ? Dims{zero_point->size()} : Dims{};
    const Tensor ones = zero_point ? expanded(call, one, scales) : one;
    out.values = dequantized(call, x, ones, zero_point, ScaleMap(call, x.dims(), scales, axis, 0), DType::kF64);
  }
  for (const double value : out.values.span<double>()) out.largest = std::max(out.largest, std::fabs(value));
  return out;
}

Tensor exact_matmul(const Call& call, const Centred& a, const Centred& b) {
  const int64_t terms = a.values.rank() == 0 ? 1 : a.values.dim(a.values.rank() - 1);
  const DType type = exact_type(a, b, terms);
  return as(matmul(call, as(a.values, type), as(b.values, type)), DType::kF64);
}

Tensor requantized(const Call& call, const Tensor& accumulator, const std::vector<double>& factor, int axis,
                   const Tensor& zero_point) {
  require(call, zero_point.size() == 1, "the output has one zero point");
  const AxisView view = around_axis(accumulator.dims(), axis);
  const auto factors = static_cast<int64_t>(factor.size());
  require(call, factors == 1 || factors == view.length, "the scales do not fit the result");
  const bool narrow = is_float(zero_point.dtype());
  const QuantRange range = narrow ? QuantRange{} : quant_range(call, zero_point.dtype());
  const int64_t zero = narrow ? 0 : to_ints(zero_point)[0];
  Tensor out(narrow ? DType::kF32 : DType::kI32, accumulator.dims());
  const double* sums = accumulator.data<double>();
  auto* raw = out.mutable_raw();
  for (int64_t i = 0; i < accumulator.size(); ++i) {
    // In float32, as runtimes do it, so that values halfway between two codes go the same way.
    const auto by = static_cast<float>(factor[static_cast<size_t>(factors == 1 ? 0 : i / view.inner % view.length)]);
    const float scaled = static_cast<float>(sums[i]) * by;
    if (narrow)
      reinterpret_cast<float*>(raw)[i] = scaled;
    else
      reinterpret_cast<int32_t*>(raw)[i] = quantize_one(scaled, zero, range);
  }
  return as(out, zero_point.dtype());
}

std::vector<double> requantization_factors(const Call& call, const Tensor& a_scale, const Tensor& b_scale,
                                           const Tensor& y_scale) {
  require(call, a_scale.size() > 0 && b_scale.size() > 0, "a scale is empty");
  require(call, a_scale.size() == 1 || b_scale.size() == 1, "only one operand may have several scales");
  require(call, y_scale.size() == 1, "the output has one scale");
  const std::vector<float> a = to_floats(a_scale), b = to_floats(b_scale);
  const float y = to_floats(y_scale)[0];
  std::vector<double> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<double>(a[a.size() == 1 ? 0 : i] * b[b.size() == 1 ? 0 : i] / y);
  return out;
}

std::span<const Kernel> qlinear_kernels() { return kKernels; }

}  // namespace mlopt::reference
