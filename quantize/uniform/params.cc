#include "quantize/uniform/params.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

float usable_scale(double scale) {
  return std::isfinite(scale) && scale >= FLT_MIN && scale <= FLT_MAX ? static_cast<float>(scale) : 1.0f;
}

}  // namespace

Grid activation_grid(const Range& range, bool symmetric) {
  const double low = std::min(range.min, 0.0), high = std::max(range.max, 0.0);
  Grid grid;
  if (symmetric) {
    grid = {DType::kI8, -128, 127, usable_scale(std::max(-low, high) / 127), 0};
    return grid;
  }
  grid.scale = usable_scale((high - low) / 255);
  grid.zero_point = static_cast<int>(std::clamp(std::nearbyint(-low / static_cast<double>(grid.scale)), 0.0, 255.0));
  return grid;
}

QuantizedWeight quantize_weight(const Tensor& weight, int axis, const std::vector<float>& min_scale) {
  const int64_t channels = axis < 0 ? 1 : weight.dim(axis);
  int64_t inner = 1;
  for (int k = axis + 1; axis >= 0 && k < weight.rank(); ++k) inner *= weight.dim(k);
  if (axis < 0) inner = std::max<int64_t>(1, weight.size());
  const std::vector<float> w = to_floats(weight);
  const auto channel = [&](size_t i) { return static_cast<size_t>(static_cast<int64_t>(i) / inner % channels); };

  std::vector<float> scale(static_cast<size_t>(channels));
  for (size_t i = 0; i < w.size(); ++i)
    if (std::isfinite(w[i])) scale[channel(i)] = std::max(scale[channel(i)], std::fabs(w[i]));
  constexpr float kMost = 127;
  for (size_t c = 0; c < scale.size(); ++c) {
    const float room = min_scale.empty() ? 0.0f
                       : axis < 0        ? *std::max_element(min_scale.begin(), min_scale.end())
                                         : min_scale[c];
    scale[c] =
        usable_scale(std::max(static_cast<double>(scale[c]) / static_cast<double>(kMost), static_cast<double>(room)));
  }
  QuantizedWeight q;
  q.codes = Tensor(DType::kI8, weight.dims());
  int8_t* codes = q.codes.mutable_data<int8_t>();
  for (size_t i = 0; i < w.size(); ++i)
    codes[i] = static_cast<int8_t>(std::clamp(std::nearbyint(w[i] / scale[channel(i)]), -kMost, kMost));
  const Dims dims = axis < 0 ? Dims{} : Dims{channels};
  q.scale = Tensor::of<float>(dims, scale);
  q.zero_point = Tensor::zeros(DType::kI8, dims);
  return q;
}

QuantizedBias quantize_bias(const Tensor& bias, float input_scale, const Tensor& weight_scale) {
  const std::vector<float> b = to_floats(bias), w = to_floats(weight_scale);
  QuantizedBias q;
  std::vector<float> scale;
  for (const float s : w) scale.push_back(usable_scale(static_cast<double>(input_scale) * static_cast<double>(s)));
  q.codes = Tensor(DType::kI32, bias.dims());
  int32_t* codes = q.codes.mutable_data<int32_t>();
  for (size_t c = 0; c < b.size(); ++c) {
    const double code =
        std::nearbyint(static_cast<double>(b[c]) / static_cast<double>(scale[scale.size() == 1 ? 0 : c]));
    codes[c] = static_cast<int32_t>(std::clamp(code, -2147483648.0, 2147483647.0));
  }
  q.scale = Tensor::of<float>(weight_scale.dims(), scale);
  return q;
}

std::vector<float> pair_room(const Tensor& weight, int axis) {
  // 255 * 128 just fits into int16; one less leaves room for rounding.
  constexpr float kMostPair = 127;
  const std::vector<float> w = to_floats(weight);
  const int64_t channels = weight.dim(axis), length = channels ? weight.size() / channels : 0;
  // Element k of the sum for channel c.
  const int64_t inputs = std::max<int64_t>(1, weight.rank() > 2 ? weight.dim(1) : length), places = length / inputs;
  const auto element = [&](int64_t c, int64_t k) {
    if (axis == 1) return w[static_cast<size_t>(k * channels + c)];
    return w[static_cast<size_t>(c * length + k % inputs * places + k / inputs)];
  };
  std::vector<float> room(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k + 1 < length; k += 2)
      room[static_cast<size_t>(c)] =
          std::max(room[static_cast<size_t>(c)], std::fabs(element(c, k) + element(c, k + 1)) / kMostPair);
  return room;
}

std::vector<float> bias_room(const Tensor& bias, float input_scale) {
  std::vector<float> room;
  for (const float b : to_floats(bias)) {
    const double least = 1.0001 * std::fabs(static_cast<double>(b)) / 2147483646.0 / static_cast<double>(input_scale);
    room.push_back(static_cast<float>(least));
  }
  return room;
}

}  // namespace mlopt::quantize
