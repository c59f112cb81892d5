#include "core/data/transform.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/data/fit.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

Picture resize(const Picture& picture, std::array<int64_t, 2> sides, const std::string& where) {
  auto [height, width] = sides;
  if (width == 0) {
    const int64_t side = height;
    const bool tall = picture.height > picture.width;
    height = tall ? side * picture.height / picture.width : side;
    width = tall ? side : side * picture.width / picture.height;
  }
  check_picture_size(width, height, where);
  return resize_bilinear(picture, height, width);
}

Picture crop_centre(const Picture& picture, int64_t side, const std::string& where) {
  if (picture.height < side || picture.width < side) {
    input_error(fmt::format("crop={} is larger than the picture ({} x {})", side, picture.width, picture.height), where,
                fmt::format("put resize={} before it", side));
  }
  // Half a pixel goes to the even side, as torchvision's CenterCrop rounds.
  const auto top = std::lrint(static_cast<double>(picture.height - side) / 2);
  const auto left = std::lrint(static_cast<double>(picture.width - side) / 2);
  Picture out(side, side, picture.channels);
  for (int64_t y = 0; y < side; ++y) {
    const auto* from = picture.pixels.data() + ((top + y) * picture.width + left) * picture.channels;
    std::copy_n(from, side * picture.channels, out.pixels.data() + y * side * picture.channels);
  }
  return out;
}

void swap_red_and_blue(Picture& picture, const std::string& where) {
  if (picture.channels != 3) input_error("bgr needs three channels, the picture has one", where, "leave bgr out");
  for (size_t i = 0; i < picture.pixels.size(); i += 3) std::swap(picture.pixels[i], picture.pixels[i + 2]);
}

/// The number for channel c of `channels`, out of one or of one for each.
double of_channel(const std::vector<double>& values, int64_t c, double otherwise) {
  if (values.empty()) return otherwise;
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(c)];
}

void check_count(const std::vector<double>& values, int64_t channels, std::string_view name, const std::string& where) {
  if (values.size() <= 1 || static_cast<int64_t>(values.size()) == channels) return;
  input_error(fmt::format("{} has {} numbers for {} channels", name, values.size(), channels), where,
              "give one number, or one for each channel");
}

}  // namespace

Picture transform_picture(Picture picture, const Transforms& transforms, const std::string& where) {
  if (transforms.resize) picture = resize(picture, *transforms.resize, where);
  if (transforms.crop) picture = crop_centre(picture, *transforms.crop, where);
  if (transforms.gray) picture = to_gray(picture);
  if (transforms.bgr) swap_red_and_blue(picture, where);
  return picture;
}

Tensor normalize(const Tensor& values, const Transforms& transforms, double scale, int channel_axis,
                 const std::string& where) {
  scale = transforms.scale.value_or(scale);
  if (scale == 1 && transforms.mean.empty() && transforms.deviation.empty()) return values;
  const int64_t channels = values.rank() == 0 ? 1 : values.dim(channel_axis);
  check_count(transforms.mean, channels, "mean", where);
  check_count(transforms.deviation, channels, "std", where);
  Tensor out = cast(values, DType::kF32);
  float* data = out.mutable_data<float>();
  int64_t inner = 1;
  for (int d = channel_axis + 1; d < values.rank(); ++d) inner *= values.dim(d);
  for (int64_t at = 0, c = 0; at < out.size(); at += inner, c = (c + 1) % channels) {
    const auto factor = static_cast<float>(scale);
    const auto mean = static_cast<float>(of_channel(transforms.mean, c, 0));
    const auto deviation = static_cast<float>(of_channel(transforms.deviation, c, 1));
    for (int64_t i = at; i < at + inner; ++i) data[i] = (data[i] * factor - mean) / deviation;
  }
  return out;
}

Tensor prepare_array(const Tensor& values, const InputSpec& input, const Transforms& transforms, int channel_axis,
                     const std::string& where) {
  const bool touched = transforms.scale || !transforms.mean.empty() || !transforms.deviation.empty();
  const bool numbers = values.dtype() != DType::kString;
  const Tensor ready = touched && numbers ? normalize(values, transforms, 1, channel_axis, where) : values;
  return to_input_type(ready, input.dtype, touched, fmt::format("{}, input '{}'", where, input.name));
}

Tensor to_tensor(const Picture& picture, bool channels_last) {
  const int64_t height = picture.height, width = picture.width, channels = picture.channels;
  Tensor out(DType::kU8, channels_last ? Dims{height, width, channels} : Dims{channels, height, width});
  auto* to = out.mutable_data<uint8_t>();
  if (channels_last || channels == 1) {
    std::copy(picture.pixels.begin(), picture.pixels.end(), to);
    return out;
  }
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < height * width; ++i) *to++ = picture.pixels[static_cast<size_t>(i * channels + c)];
  }
  return out;
}

}  // namespace mlopt
