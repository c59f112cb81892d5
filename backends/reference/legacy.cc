#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

// Operators that the standard dropped after its first version, still found in old models, and one that it never had.

/// fn(value, index) of each element, computed in double.
template <class Fn>
void each(Call& call, const Fn& fn) {
  const Tensor& data = call.in(0);
  if (!is_float(data.dtype())) wrong_type(call, data.dtype());
  std::vector<double> values = to_doubles(data);
  for (size_t i = 0; i < values.size(); ++i) values[i] = fn(values[i], static_cast<int64_t>(i));
  call.set(0, as(Tensor::of(data.dims(), values), data.dtype()));
}

void affine(Call& call) {
  const double alpha = call.view.get_float("alpha", 1), beta = call.view.get_float("beta", 0);
  each(call, [&](double x, int64_t) { return alpha * x + beta; });
}

void scale(Call& call) {
  const double factor = call.view.get_float("scale", 1);
  each(call, [&](double x, int64_t) { return factor * x; });
}

void scaled_tanh(Call& call) {
  const double alpha = call.view.get_float("alpha", 1), beta = call.view.get_float("beta", 1);
  each(call, [&](double x, int64_t) { return alpha * std::tanh(beta * x); });
}

void parametric_softplus(Call& call) {
  const double alpha = call.view.get_float("alpha", 1), beta = call.view.get_float("beta", 1);
  each(call, [&](double x, int64_t) {
    return alpha * (std::max(beta * x, 0.0) + std::log1p(std::exp(-std::abs(beta * x))));
  });
}

/// 1 - erf(x), which TensorFlow's exporter copies from its own graph: Keras's exact GELU.
void erfc(Call& call) {
  each(call, [](double x, int64_t) { return std::erfc(x); });
}

/// One factor for the picture and one summand for each channel.
void image_scaler(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<float> bias = call.view.get_floats("bias");
  require(call, data.rank() == 4 && static_cast<int64_t>(bias.size()) == data.dim(1),
          "there must be one bias for each channel");
  const double factor = call.view.get_float("scale", 1);
  const int64_t plane = data.dim(2) * data.dim(3), channels = data.dim(1);
  each(call, [&](double x, int64_t i) {
    return factor * x + static_cast<double>(bias[static_cast<size_t>(i / plane % channels)]);
  });
}

/// Removes borders (left, top, right, bottom), or keeps height and width `scale` from the left and top ones on.
void crop(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> border = call.view.get_ints("border"), size = call.view.get_ints("scale");
  require(call, data.rank() == 4 && border.size() == 4 && (size.empty() || size.size() == 2),
          "border or scale has the wrong length");
  for (const int64_t b : border)
    require(call, b >= 0 && b <= std::max(data.dim(2), data.dim(3)), "a border is larger than the picture");
  Dims dims = data.dims();
  dims[2] = size.empty() ? dims[2] - border[1] - border[3] : size[0];
  dims[3] = size.empty() ? dims[3] - border[0] - border[2] : size[1];
  require(call,
          dims[2] >= 0 && dims[3] >= 0 && dims[2] <= data.dim(2) - border[1] && dims[3] <= data.dim(3) - border[0],
          "the crop goes beyond the picture");
  call.set(0, gather_strided(data, dims, row_major_strides(data.dims()), border[1] * data.dim(3) + border[0]));
}

constexpr Kernel kKernels[] = {
    {"", "Affine", affine},
    {"", "Scale", scale},
    {"", "ScaledTanh", scaled_tanh},
    {"", "ParametricSoftplus", parametric_softplus},
    {"", "ImageScaler", image_scaler},
    {"", "Crop", crop},
    {"", "Erfc", erfc},
};

}  // namespace

std::span<const Kernel> legacy_kernels() { return kKernels; }

}  // namespace mlopt::reference
