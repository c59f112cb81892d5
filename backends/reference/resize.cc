#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "backends/reference/resample.h"

namespace mlopt::reference {
namespace {

struct AxisSize {
  int axis;
  int64_t from, to;
  double scale;
  double roi_begin = 0, roi_end = 1;
};

struct Options {
  std::string mode = "nearest", coordinates = "asymmetric", nearest = "floor";
  double cubic_a = -0.75;
  double extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

/// The coordinate in the input that output position `x` shows.
double source_coordinate(const Call& call, const Options& options, const AxisSize& size, int64_t x) {
  const double in = static_cast<double>(size.from), out = size.scale * in, at = static_cast<double>(x);
  const std::string& how = options.coordinates;
  if (how == "asymmetric") return at / size.scale;
  if (how == "align_corners") return out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (how == "half_pixel") return (at + 0.5) / size.scale - 0.5;
  if (how == "pytorch_half_pixel") return out == 1 ? -0.5 : (at + 0.5) / size.scale - 0.5;
  if (how == "half_pixel_symmetric")
    return in / 2 * (1 - static_cast<double>(size.to) / out) + (at + 0.5) / size.scale - 0.5;
  if (how == "tf_half_pixel_for_nn") return (at + 0.5) / size.scale;
  if (how == "tf_crop_and_resize") {
    const double span = (size.roi_end - size.roi_begin) * (in - 1);
    return size.roi_begin * (in - 1) + (out == 1 ? span / 2 : at * span / (out - 1));
  }
  fail(call, fmt::format("coordinate_transformation_mode '{}' is unknown", how));
}

/// Outside the input where tf_crop_and_resize fills with a constant.
bool extrapolated(const Options& options, const AxisSize& size, double x) {
  return options.coordinates == "tf_crop_and_resize" && !(x >= 0 && x <= static_cast<double>(size.from - 1));
}

int64_t nearest_place(const Call& call, const Options& options, double x, int64_t length) {
  const double low = std::floor(x), rest = x - low;
  double place = low;
  if (options.nearest == "ceil")
    place = std::ceil(x);
  else if (options.nearest == "round_prefer_floor")
    place = rest <= 0.5 ? low : low + 1;
  else if (options.nearest == "round_prefer_ceil")
    place = rest < 0.5 ? low : low + 1;
  else if (options.nearest != "floor")
    fail(call, fmt::format("nearest_mode '{}' is unknown", options.nearest));
  return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(length - 1)));
}

Tensor resize_nearest(const Call& call, const Options& options, const std::vector<AxisSize>& sizes) {
  const Tensor& data = call.in(0);
  std::vector<std::vector<int64_t>> maps;
  for (const int64_t length : data.dims()) {
    maps.emplace_back(static_cast<size_t>(length));
    std::iota(maps.back().begin(), maps.back().end(), 0);
  }
  for (const AxisSize& size : sizes) {
    std::vector<int64_t>& map = maps[static_cast<size_t>(size.axis)];
    map.resize(static_cast<size_t>(size.to));
    for (int64_t i = 0; i < size.to; ++i) {
      const double x = source_coordinate(call, options, size, i);
      map[static_cast<size_t>(i)] = extrapolated(options, size, x) ? -1 : nearest_place(call, options, x, size.from);
    }
  }
  ElementCodec codec(data.dtype());
  const bool fills = data.dtype() != DType::kString && options.extrapolation != 0;
  const Tensor fill = fills ? codec.open(cast(Tensor::scalar(options.extrapolation), data.dtype())) : codec.zeros({});
  return codec.close(gather_mapped(codec, codec.open(data), maps, fill.raw()));
}

AxisFilter axis_filter(const Call& call, const Options& options, const AxisSize& size) {
  FilterShape shape{linear_kernel, 1, 1, options.exclude_outside};
  if (options.mode == "cubic")
    shape = {[a = options.cubic_a](double x) { return cubic_kernel(x, a); }, 2, 1, options.exclude_outside};
  if (options.antialias) shape.stretch = std::min(1.0, size.scale);
  AxisFilter filter;
  filter.outside = options.extrapolation;
  for (int64_t i = 0; i < size.to; ++i) {
    const double x = source_coordinate(call, options, size, i);
    if (extrapolated(options, size, x))
      filter.taps.emplace_back();
    else
      filter.taps.push_back(taps_at(shape, x, size.from));
  }
  return filter;
}

/// Doubles rounded to the nearest value of an integer type, ties to even, within its limits.
Tensor rounded(const Tensor& values, DType type) {
  if (!is_integer(type)) return cast(values, type);
  const int width = bits(type) - (is_signed(type) ? 1 : 0);
  const double high = std::ldexp(1.0, width) - 1, low = is_signed(type) ? -std::ldexp(1.0, width) : 0;
  Tensor out = values;
  double* cell = out.mutable_data<double>();
  for (int64_t i = 0; i < out.size(); ++i) cell[i] = std::clamp(std::nearbyint(cell[i]), low, high);
  return cast(out, type);
}

Tensor resize_filtered(const Call& call, const Options& options, const std::vector<AxisSize>& sizes) {
  const Tensor& data = call.in(0);
  if (!is_float(data.dtype()) && !is_integer(data.dtype())) wrong_type(call, data.dtype());
  Tensor values = as(data, is_float(data.dtype()) ? compute_type(data.dtype()) : DType::kF64);
  for (const AxisSize& size : sizes) {
    const bool same = size.scale == 1 && size.from == size.to && size.roi_begin == 0 && size.roi_end == 1;
    if (!same) values = resampled(values, size.axis, axis_filter(call, options, size));
  }
  return is_integer(data.dtype()) ? rounded(values, data.dtype()) : as(values, data.dtype());
}

Tensor resized(const Call& call, const Options& options, const std::vector<AxisSize>& sizes) {
  for (const AxisSize& size : sizes) {
    require(call, std::isfinite(size.scale) && (size.scale > 0 || size.to == 0), "a scale is not positive");
    require(call, size.from > 0 || size.to == 0, "an empty axis cannot be enlarged");
  }
  Dims dims = call.in(0).dims();
  for (const AxisSize& size : sizes) dims[static_cast<size_t>(size.axis)] = size.to;
  // What is too large is refused here, before its axes are mapped.
  if (Tensor out(call.in(0).dtype(), std::move(dims)); out.size() == 0) return out;
  if (options.mode == "nearest") return resize_nearest(call, options, sizes);
  if (options.mode == "linear" || options.mode == "bilinear" || options.mode == "cubic")
    return resize_filtered(call, options, sizes);
  fail(call, fmt::format("mode '{}' is unknown", options.mode));
}

int64_t scaled_length(const Call& call, int64_t length, float scale) {
  const float scaled = std::floor(static_cast<float>(length) * scale);
  require(call, scaled >= 0 && scaled < 0x1p48F, "a scale makes an impossible shape");
  return static_cast<int64_t>(scaled);
}

std::vector<AxisSize> sizes_from_scales(const Call& call, const std::vector<int>& axes,
                                        const std::vector<float>& scales) {
  if (scales.size() != axes.size())
    fail(call, fmt::format("{} scales are given for {} axes", scales.size(), axes.size()));
  std::vector<AxisSize> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t length = call.in(0).dim(axes[i]);
    sizes.push_back({axes[i], length, scaled_length(call, length, scales[i]), static_cast<double>(scales[i])});
  }
  return sizes;
}

/// From the lengths asked for, with one scale for all axes where the aspect ratio is to be kept.
std::vector<AxisSize> sizes_from_lengths(const Call& call, const std::vector<int>& axes,
                                         const std::vector<int64_t>& lengths) {
  if (lengths.size() != axes.size())
    fail(call, fmt::format("{} sizes are given for {} axes", lengths.size(), axes.size()));
  std::vector<AxisSize> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t length = call.in(0).dim(axes[i]);
    require(call, lengths[i] >= 0, "a size is negative");
    sizes.push_back({axes[i], length, lengths[i],
                     static_cast<double>(lengths[i]) / static_cast<double>(std::max<int64_t>(1, length))});
  }
  const std::string policy = call.view.get_string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || sizes.empty()) return sizes;
  require(call, policy == "not_larger" || policy == "not_smaller", "keep_aspect_ratio_policy is unknown");
  const auto by_scale = [](const AxisSize& a, const AxisSize& b) { return a.scale < b.scale; };
  const double scale = policy == "not_larger" ? std::min_element(sizes.begin(), sizes.end(), by_scale)->scale
                                              : std::max_element(sizes.begin(), sizes.end(), by_scale)->scale;
  for (AxisSize& size : sizes) {
    const double length = std::floor(scale * static_cast<double>(size.from) + 0.5);
    require(call, length < 0x1p48, "a size is impossible");
    size = {size.axis, size.from, static_cast<int64_t>(length), scale};
  }
  return sizes;
}

Options resize_options(const Call& call) {
  const NodeView& view = call.view;
  Options options;
  options.mode = view.get_string("mode", "nearest");
  if (view.opset() < 11) return options;
  options.coordinates = view.get_string("coordinate_transformation_mode", "half_pixel");
  options.nearest = view.get_string("nearest_mode", "round_prefer_floor");
  options.cubic_a = view.get_float("cubic_coeff_a", -0.75F);
  options.extrapolation = view.get_float("extrapolation_value", 0);
  options.exclude_outside = view.get_int("exclude_outside", 0) != 0;
  options.antialias = view.get_int("antialias", 0) != 0;
  return options;
}

void resize(Call& call) {
  const Tensor& data = call.in(0);
  std::vector<int64_t> wanted = call.view.get_ints("axes");
  if (!call.view.has("axes"))
    for (int i = 0; i < data.rank(); ++i) wanted.push_back(i);
  const std::vector<int> axes = axes_of(call, wanted, data.rank());
  const int scales = call.view.opset() < 11 ? 1 : 2;
  std::vector<AxisSize> sizes;
  if (call.has(scales) && call.in(scales).size() > 0)
    sizes = sizes_from_scales(call, axes, to_floats(call.in(scales)));
  else if (call.has(3))
    sizes = sizes_from_lengths(call, axes, to_ints(call.in(3)));
  else
    fail(call, "neither scales nor sizes are given");
  const Options options = resize_options(call);
  if (options.coordinates == "tf_crop_and_resize") {
    require(call, call.has(1) && call.in(1).size() == static_cast<int64_t>(2 * axes.size()),
            "roi must have two numbers for each axis");
    const std::vector<double> roi = to_doubles(call.in(1));
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i].roi_begin = roi[i];
      sizes[i].roi_end = roi[i + sizes.size()];
    }
  }
  call.set(0, resized(call, options, sizes));
}

void upsample(Call& call) {
  std::vector<int> axes(static_cast<size_t>(call.in(0).rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<float> scales;
  if (call.has(1))
    scales = to_floats(call.in(1));
  else if (call.view.has("scales"))
    scales = call.view.get_floats("scales");
  else
    scales = {1, 1, call.view.get_float("height_scale", 1), call.view.get_float("width_scale", 1)};
  Options options;
  options.mode = call.view.get_string("mode", "nearest");
  call.set(0, resized(call, options, sizes_from_scales(call, axes, scales)));
}

constexpr Kernel kKernels[] = {
    {"", "Resize", resize},
    {"", "Upsample", upsample},
};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace mlopt::reference
