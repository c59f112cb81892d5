#include "backends/reference/quantize.h"

#include <fmt/core.h>

#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

DType type_attribute(const Call& call, const char* attr, DType otherwise) {
  const int64_t number = call.view.get_int(attr, 0);
  if (number < 0 || number >= kDTypeCount) fail(call, fmt::format("{} is not a known element type: {}", attr, number));
  return number == 0 ? otherwise : static_cast<DType>(number);
}

ScaleMap scale_map(const Call& call, const Dims& x, const Tensor& scale, const Tensor* zero_point) {
  if (zero_point && zero_point->size() != scale.size())
    fail(call, fmt::format("{} scales but {} zero points", scale.size(), zero_point->size()));
  return ScaleMap(call, x, scale.dims(), call.view.get_int("axis", 1), call.view.get_int("block_size", 0));
}

/// x / scale rounded to a narrow float type, as a division done in that type gives.
Tensor narrow_quotient(const Tensor& quotient, DType precision) { return as(as(quotient, precision), DType::kF32); }

template <class T>
Tensor quotient(const Tensor& x, const Tensor& scale, const ScaleMap& map) {
  Tensor out(x.dtype(), x.dims());
  T* o = out.mutable_data<T>();
  const T *in = x.data<T>(), *s = scale.data<T>();
  map.for_runs([&](int64_t start, int64_t count, int64_t at, int64_t step) {
    for (int64_t i = 0; i < count; ++i) o[start + i] = in[start + i] / s[at + i * step];
  });
  return out;
}

/// round(scaled) + zero point, saturated to an integer type.
template <class T>
Tensor rounded(const Call& call, const Tensor& scaled, const Tensor* zero_point, const ScaleMap& map, DType type) {
  const QuantRange range = quant_range(call, type);
  const std::vector<int64_t> zeros = zero_point ? to_ints(*zero_point) : std::vector<int64_t>();
  Tensor out(DType::kI32, scaled.dims());
  int32_t* o = out.mutable_data<int32_t>();
  const T* in = scaled.data<T>();
  map.for_runs([&](int64_t start, int64_t count, int64_t at, int64_t step) {
    for (int64_t i = 0; i < count; ++i)
      o[start + i] = quantize_one(in[start + i], zeros.empty() ? 0 : zeros[static_cast<size_t>(at + i * step)], range);
  });
  return as(out, type);
}

/// The quotient in a float8 or float4 type, whose zero point must be zero.
Tensor narrowed(const Call& call, const Tensor& scaled, const Tensor* zero_point, DType type) {
  for (const double zero : zero_point ? to_doubles(*zero_point) : std::vector<double>())
    require(call, zero == 0, "the zero point of a float type must be zero");
  return cast(scaled, type, call.view.get_int("saturate", 1) != 0);
}

void quantize_linear(Call& call) {
  const Tensor &x = call.in(0), &scale = call.in(1);
  const Tensor* zero_point = call.has(2) ? &call.in(2) : nullptr;
  const DType type = zero_point ? zero_point->dtype() : type_attribute(call, "output_dtype", DType::kU8);
  require(call, type_attribute(call, "output_dtype", type) == type, "output_dtype is not the type of the zero point");
  const ScaleMap map = scale_map(call, x.dims(), scale, zero_point);
  // A scale that is a power of two of its own type divides in the type of x.
  const bool exponent_only = scale.dtype() == DType::kF8E8M0 || !is_float(scale.dtype());
  const DType precision = type_attribute(call, "precision", exponent_only ? x.dtype() : scale.dtype());
  const bool wide = x.dtype() == DType::kF64 || precision == DType::kF64;
  const DType compute = wide ? DType::kF64 : DType::kF32;
  const bool narrow = !wide && is_small_float(precision);
  const auto operand = [&](const Tensor& t) {
    return as(narrow && is_float(t.dtype()) ? as(t, precision) : t, compute);
  };
  if (!is_float(x.dtype()) && !is_integer(x.dtype())) wrong_type(call, x.dtype());
  with_float(call, compute, [&](auto tag) {
    using T = decltype(tag);
    Tensor scaled = quotient<T>(operand(x), operand(scale), map);
    if (narrow) scaled = narrow_quotient(scaled, precision);
    call.set(
        0, is_float(type) ? narrowed(call, scaled, zero_point, type) : rounded<T>(call, scaled, zero_point, map, type));
  });
}

void dequantize_linear(Call& call) {
  const Tensor &x = call.in(0), &scale = call.in(1);
  const Tensor* zero_point = call.has(2) ? &call.in(2) : nullptr;
  const bool wide = scale.dtype() == DType::kF64;
  const DType by_scale = scale.dtype() == DType::kF8E8M0 ? DType::kF32 : scale.dtype();
  const DType type = wide ? scale.dtype() : type_attribute(call, "output_dtype", by_scale);
  require(call, is_float(scale.dtype()) && is_float(type), "the scale and the output must be floats");
  const ScaleMap map = scale_map(call, x.dims(), scale, zero_point);
  call.set(0, as(dequantized(call, x, scale, zero_point, map, wide ? DType::kF64 : DType::kF32), type));
}

void dynamic_quantize_linear(Call& call) {
  DynamicallyQuantized codes = dynamically_quantized(call, call.in(0));
  call.set(0, std::move(codes.values));
  call.set(1, std::move(codes.scale));
  call.set(2, std::move(codes.zero_point));
}

constexpr Kernel kKernels[] = {
    {"", "DequantizeLinear", dequantize_linear},
    {"com.microsoft", "DequantizeLinear", dequantize_linear},
    {"", "DynamicQuantizeLinear", dynamic_quantize_linear},
    {"", "QuantizeLinear", quantize_linear},
    {"com.microsoft", "QuantizeLinear", quantize_linear},
};

}  // namespace

QuantRange quant_range(const Call& call, DType type) {
  if (!is_integer(type) || bits(type) > 32) wrong_type(call, type);
  if (!is_signed(type)) return {0, (int64_t{1} << bits(type)) - 1};
  return {-(int64_t{1} << (bits(type) - 1)), (int64_t{1} << (bits(type) - 1)) - 1};
}

ScaleMap::ScaleMap(const Call& call, const Dims& x, const Dims& scale, int64_t axis, int64_t block) {
  const int rank = static_cast<int>(x.size());
  require(call, block >= 0, "block_size must not be negative");
  if (element_count(scale) == 1) {
    if (rank > 0) view_ = around_axis(x, rank - 1);
    view_ = {1, view_.outer, view_.length};
    return;
  }
  const int at = axis_of(call, axis, rank);
  view_ = around_axis(x, at);
  const auto disagree = [&] {
    fail(call, "scales of shape " + to_string(scale) + " for a tensor of shape " + to_string(x));
  };
  if (block == 0) {
    if (element_count(scale) != view_.length) disagree();
    axis_step_ = 1;
    return;
  }
  Dims expected = x;
  const int64_t blocks = (view_.length + block - 1) / block;
  expected[static_cast<size_t>(at)] = blocks;
  if (scale != expected) disagree();
  block_ = block;
  outer_step_ = blocks * view_.inner;
  axis_step_ = view_.inner;
  inner_step_ = 1;
}

Tensor dequantized(const Call& call, const Tensor& x, const Tensor& scale, const Tensor* zero_point,
                   const ScaleMap& map, DType type) {
  if (compute_type(x.dtype()) == DType::kUndefined) wrong_type(call, x.dtype());
  if (zero_point && zero_point->dtype() != x.dtype()) fail(call, "the zero point must have the type of the input");
  return with_float(call, type, [&](auto tag) {
    using T = decltype(tag);
    // int64 holds every difference of integers; differences of narrow floats are exact in float32.
    return with_number(call, is_float(x.dtype()) ? type : DType::kI64, [&](auto element) {
      using X = decltype(element);
      const Tensor codes = as(x, dtype_of<X>()), scales = as(scale, type);
      const Tensor zeros = zero_point ? as(*zero_point, dtype_of<X>()) : Tensor();
      const X *in = codes.data<X>(), *zero = zero_point ? zeros.data<X>() : nullptr;
      const T* s = scales.data<T>();
      Tensor out(type, x.dims());
      T* o = out.mutable_data<T>();
      map.for_runs([&](int64_t start, int64_t count, int64_t at, int64_t step) {
        for (int64_t i = 0; i < count; ++i) {
          const X distance = zero ? in[start + i] - zero[at + i * step] : in[start + i];
          o[start + i] = static_cast<T>(distance) * s[at + i * step];
        }
      });
      return out;
    });
  });
}

Tensor quantized(const Call& call, const Tensor& x, const Tensor& scale, const Tensor* zero_point, const ScaleMap& map,
                 DType type) {
  return with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    return rounded<T>(call, quotient<T>(x, as(scale, x.dtype()), map), zero_point, map, type);
  });
}

DynamicallyQuantized dynamically_quantized(const Call& call, const Tensor& x) {
  return with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    T low = 0, high = 0;
    for (const T value : wide.span<T>()) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const T step = (high - low) / T{255}, scale = step > 0 ? step : T{1};  // zeros keep a scale to divide by
    const T zero =
        std::isinf(scale) ? (std::isinf(low) ? T{255} : T{0}) : std::nearbyint(std::clamp(-low / scale, T{0}, T{255}));
    const Tensor scales = Tensor::scalar<T>(scale), zeros = as(Tensor::scalar<T>(zero), DType::kU8);
    const ScaleMap map(call, x.dims(), {}, 0, 0);
    return DynamicallyQuantized{quantized(call, wide, scales, &zeros, map, DType::kU8), as(scales, x.dtype()), zeros};
  });
}

std::span<const Kernel> quantize_kernels() { return kKernels; }

}  // namespace mlopt::reference
