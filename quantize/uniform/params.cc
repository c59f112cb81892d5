#include "quantize/uniform/params.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

/// Which channel an element of a tensor belongs to.
struct Channels {
  size_t count = 1, inner = 1;

  Channels(const Tensor& weight, int axis) {
    if (axis < 0) return;
    count = static_cast<size_t>(weight.dim(axis));
    for (int k = axis + 1; k < weight.rank(); ++k) inner *= static_cast<size_t>(weight.dim(k));
  }
  size_t at(size_t i) const { return i / inner % count; }
};

float code_of(float w, float scale, float most) { return std::clamp(std::nearbyint(w / scale), -most, most); }

constexpr int kNibble = 4, kByte = 8;

/// The step of a sign: the mean magnitude of each channel errs least.
std::vector<float> mean_magnitudes(const std::vector<float>& w, const Channels& channels) {
  std::vector<double> sum(channels.count);
  std::vector<int64_t> count(channels.count);
  for (size_t i = 0; i < w.size(); ++i)
    if (std::isfinite(w[i])) sum[channels.at(i)] += std::fabs(static_cast<double>(w[i])), ++count[channels.at(i)];
  std::vector<float> mean;
  for (size_t c = 0; c < sum.size(); ++c)
    mean.push_back(static_cast<float>(sum[c] / static_cast<double>(std::max<int64_t>(1, count[c]))));
  return mean;
}

template <class T>
Tensor codes_by(const std::vector<float>& scales, const Tensor& weight, const Channels& channels, int bits) {
  const auto most = static_cast<float>(most_code(bits));
  const std::vector<float> w = to_floats(weight);
  Tensor codes(dtype_of<T>(), weight.dims());
  T* out = codes.mutable_data<T>();
  for (size_t i = 0; i < w.size(); ++i)
    out[i] = static_cast<T>(bits == 1 ? (w[i] < 0 ? -1 : 1) : code_of(w[i], scales[channels.at(i)], most));
  return codes;
}

/// Makes each scale its product with one of the factors, the one whose rounding and clipping errs least, but no more
/// than `most_scale`.
void multiply_to_least_error(const std::vector<float>& w, const Channels& channels, int most,
                             const std::vector<float>& factors, const std::vector<float>& most_scale,
                             std::vector<float>& scale) {
  std::vector<double> least(scale.size(), std::numeric_limits<double>::infinity());
  const std::vector<float> start = scale;
  for (const float factor : factors) {
    std::vector<float> tried(start);
    for (size_t c = 0; c < tried.size(); ++c) tried[c] = std::min(most_scale[c], start[c] * factor);
    std::vector<double> error(scale.size());
    for (size_t i = 0; i < w.size(); ++i) {
      const float s = tried[channels.at(i)];
      const float off = s > 0 ? w[i] - code_of(w[i], s, static_cast<float>(most)) * s : 0;
      error[channels.at(i)] += static_cast<double>(off) * static_cast<double>(off);
    }
    for (size_t c = 0; c < scale.size(); ++c)
      if (error[c] < least[c]) least[c] = error[c], scale[c] = tried[c];
  }
}

/// Makes each scale the share of it whose rounding and clipping errs least: first of few far from each other, then of
/// those around the best. Few codes are worth clipping more.
void shrink_to_least_error(const std::vector<float>& w, const Channels& channels, int bits, std::vector<float>& scale) {
  constexpr int kCoarse = 20, kFine = 5;
  const float least = bits <= kNibble ? 0.05f : 0.4f, ratio = std::pow(least, 1.0f / (kCoarse - 1));
  std::vector<float> coarse, fine;
  for (int k = 0; k < kCoarse; ++k) coarse.push_back(std::pow(ratio, static_cast<float>(k)));
  for (int k = -kFine; k <= kFine; ++k)
    fine.push_back(std::pow(ratio, static_cast<float>(k) / static_cast<float>(kFine + 1)));
  const std::vector<float> whole = scale;
  multiply_to_least_error(w, channels, most_code(bits), coarse, whole, scale);
  multiply_to_least_error(w, channels, most_code(bits), fine, whole, scale);
}

}  // namespace

float usable_scale(double scale) {
  return std::isfinite(scale) && scale >= FLT_MIN && scale <= FLT_MAX ? static_cast<float>(scale) : 1.0f;
}

DType weight_type(int bits) { return bits <= kNibble ? DType::kI4 : bits <= kByte ? DType::kI8 : DType::kI16; }

int most_code(int bits) { return std::max(1, (1 << (bits - 1)) - 1); }

Grid activation_grid(const Range& range, bool symmetric, int bits) {
  const double low = std::min(range.min, 0.0), high = std::max(range.max, 0.0);
  const int most = most_code(bits), levels = 1 << bits;
  const bool word = bits > kByte;
  if (symmetric)
    return {word ? DType::kI16 : DType::kI8, -most - 1, most, usable_scale(std::max(-low, high) / most), 0};
  Grid grid{word ? DType::kU16 : DType::kU8, 0, levels - 1, usable_scale((high - low) / (levels - 1)), 0};
  const double zero = std::nearbyint(-low / static_cast<double>(grid.scale));
  grid.zero_point = static_cast<int>(std::clamp(zero, 0.0, static_cast<double>(levels - 1)));
  return grid;
}

std::vector<float> weight_scales(const Tensor& weight, int axis, const std::vector<float>& min_scale, int bits) {
  const Channels channels(weight, axis);
  const std::vector<float> w = to_floats(weight);
  std::vector<float> scale = bits == 1 ? mean_magnitudes(w, channels) : std::vector<float>(channels.count);
  for (size_t i = 0; bits > 1 && i < w.size(); ++i)
    if (std::isfinite(w[i])) scale[channels.at(i)] = std::max(scale[channels.at(i)], std::fabs(w[i]));
  for (float& s : scale) s /= static_cast<float>(most_code(bits));
  if (bits > 1 && bits < kByte) shrink_to_least_error(w, channels, bits, scale);
  for (size_t c = 0; c < scale.size(); ++c) {
    const float room = min_scale.empty() ? 0.0f
                       : axis < 0        ? *std::max_element(min_scale.begin(), min_scale.end())
                                         : min_scale[c];
    const float least = bits == 1 ? FLT_MIN : 0.0f;  // signs have no code for zeros
    scale[c] = usable_scale(static_cast<double>(std::max({scale[c], room, least})));
  }
  return scale;
}

QuantizedWeight quantize_weight(const Tensor& weight, int axis, const std::vector<float>& min_scale, int bits) {
  return quantize_by(weight_scales(weight, axis, min_scale, bits), weight, axis, bits);
}

QuantizedWeight quantize_by(const std::vector<float>& scales, const Tensor& weight, int axis, int bits) {
  const Channels channels(weight, axis);
  const Dims dims = axis < 0 ? Dims{} : Dims{static_cast<int64_t>(channels.count)};
  const DType type = weight_type(bits);
  const Tensor codes = bits > kByte ? codes_by<int16_t>(scales, weight, channels, bits)
                                    : codes_by<int8_t>(scales, weight, channels, bits);
  const Tensor zeros = Tensor::zeros(codes.dtype(), dims);
  const Tensor scale = Tensor::of<float>(dims, scales);
  if (type != DType::kI4) return {codes, scale, zeros};
  return {pack(codes, type), scale, pack(zeros, type)};
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
