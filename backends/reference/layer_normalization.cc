#include "backends/reference/layer_normalization.h"

#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// A factor of the rows: element (row, i) is data[row * row_step + i].
struct RowFactor {
  Tensor data;
  int64_t row_step = 0;
};

/// `factor` in the type of `x`; repeated over all of x only when it is not the same for every row.
RowFactor row_factor(const Call& call, const Tensor& factor, const Tensor& x, int axis) {
  const Tensor wide = as(factor, x.dtype());
  const Dims row_dims(x.dims().begin() + axis, x.dims().end());
  if (wide.rank() <= static_cast<int>(row_dims.size())) return {expanded(call, wide, row_dims), 0};
  return {expanded(call, wide, x.dims()), element_count(row_dims)};
}

template <class T>
double mean_square(const T* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum / static_cast<double>(count);
}

template <class T>
void normalize(const T* x, int64_t length, const RowNormalization& how, const T* scale, const T* bias, T* y, T* mean,
               T* inverse) {
  const Moments m = how.centered ? moments(x, length) : Moments{0, mean_square(x, length)};
  const double factor = 1 / std::sqrt(m.variance + how.epsilon);
  for (int64_t i = 0; i < length; ++i) {
    const double normal = (static_cast<double>(x[i]) - m.mean) * factor * static_cast<double>(scale[i]);
    y[i] = static_cast<T>(bias ? normal + static_cast<double>(bias[i]) : normal);
  }
  *mean = static_cast<T>(m.mean);
  *inverse = static_cast<T>(factor);
}

/// The type of the saved statistics.
DType statistics_type(const Call& call) {
  return call.view.get_int("stash_type", 1) == static_cast<int64_t>(DType::kBF16) ? DType::kBF16 : DType::kF32;
}

void run(Call& call, bool centered) {
  const Tensor& x = call.in(0);
  const int axis = axis_of(call, call.view.get_int("axis", -1), x.rank());
  std::optional<Tensor> bias;
  if (call.has(2)) bias = call.in(2);
  const NormalizedRows rows =
      normalize_rows(call, x, axis, call.in(1), bias, {centered, call.view.get_float("epsilon", 1e-5f)});
  const DType saved = statistics_type(call);
  call.set(0, as(rows.y, centered ? x.dtype() : call.in(1).dtype()));
  // The root-mean-square form of old ONNX Runtime exports has the inverse deviation as its second output.
  if (!centered) return call.set(1, as(rows.inverse_deviation, saved));
  call.set(1, as(rows.mean, saved));
  call.set(2, as(rows.inverse_deviation, saved));
}

void layer_normalization(Call& call) { run(call, /*centered=*/true); }
void rms_normalization(Call& call) { run(call, /*centered=*/false); }

constexpr Kernel kKernels[] = {
    {"", "LayerNormalization", layer_normalization},
    {"com.microsoft", "LayerNormalization", layer_normalization},
    {"", "RMSNormalization", rms_normalization},
    {"", "SimplifiedLayerNormalization", rms_normalization},
    {"com.microsoft", "SimplifiedLayerNormalization", rms_normalization},
};

}  // namespace

NormalizedRows normalize_rows(const Call& call, const Tensor& x, int axis, const Tensor& scale,
                              const std::optional<Tensor>& bias, const RowNormalization& how) {
  return with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    const RowFactor factor = row_factor(call, scale, wide, axis);
    const RowFactor shift = bias ? row_factor(call, *bias, wide, axis) : RowFactor{};
    Dims row_dims = x.dims();
    int64_t length = 1, rows = 1;
    for (int i = 0; i < x.rank(); ++i) {
      (i < axis ? rows : length) *= x.dim(i);
      if (i >= axis) row_dims[static_cast<size_t>(i)] = 1;
    }
    NormalizedRows out{Tensor(wide.dtype(), x.dims()), Tensor(wide.dtype(), row_dims), Tensor(wide.dtype(), row_dims)};
    T *y = out.y.template mutable_data<T>(), *mean = out.mean.template mutable_data<T>();
    T* inverse = out.inverse_deviation.template mutable_data<T>();
    parallel_for(rows, 1 + 8192 / std::max<int64_t>(1, length), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        normalize(wide.data<T>() + row * length, length, how, factor.data.data<T>() + row * factor.row_step,
                  bias ? shift.data.data<T>() + row * shift.row_step : nullptr, y + row * length, mean + row,
                  inverse + row);
    });
    return out;
  });
}

std::span<const Kernel> layer_normalization_kernels() { return kKernels; }

}  // namespace mlopt::reference
