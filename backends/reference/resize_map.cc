#include "backends/reference/resize_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

/// Before opset 11 scales came second and there was one way to find a position.
bool has_old_form(const Call& call) { return call.view.node().domain.empty() && call.view.opset() < 11; }

/// The coordinate in the input that output position `x` shows.
double source_coordinate(const Call& call, const ResizeOptions& options, const ResizedAxis& size, int64_t x) {
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
bool extrapolated(const ResizeOptions& options, const ResizedAxis& size, double x) {
  return options.coordinates == "tf_crop_and_resize" && !(x >= 0 && x <= static_cast<double>(size.from - 1));
}

int64_t nearest_place(const Call& call, const ResizeOptions& options, double scale, double x, int64_t length) {
  const double low = std::floor(x), rest = x - low;
  double place = low;
  if (options.nearest == "simple")  // Resize of opset 10, whose scales are known to the precision of float
    place = scale < 1 ? std::ceil(static_cast<float>(x)) : low;
  else if (options.nearest == "ceil")
    place = std::ceil(x);
  else if (options.nearest == "round_prefer_floor")
    place = rest <= 0.5 ? low : low + 1;
  else if (options.nearest == "round_prefer_ceil")
    place = rest < 0.5 ? low : low + 1;
  else if (options.nearest != "floor")
    fail(call, fmt::format("nearest_mode '{}' is unknown", options.nearest));
  return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(length - 1)));
}

int64_t scaled_length(const Call& call, int64_t length, float scale) {
  const float scaled = std::floor(static_cast<float>(length) * scale);
  require(call, scaled >= 0 && scaled < 0x1p48F, "a scale makes an impossible shape");
  return static_cast<int64_t>(scaled);
}

/// From the lengths asked for, with one scale for all axes where the aspect ratio is to be kept.
std::vector<ResizedAxis> axes_from_lengths(const Call& call, const Dims& dims, const std::vector<int>& axes,
                                           const std::vector<int64_t>& lengths) {
  if (lengths.size() != axes.size())
    fail(call, fmt::format("{} sizes are given for {} axes", lengths.size(), axes.size()));
  std::vector<ResizedAxis> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t length = dims[static_cast<size_t>(axes[i])];
    require(call, lengths[i] >= 0, "a size is negative");
    sizes.push_back({axes[i], length, lengths[i],
                     static_cast<double>(lengths[i]) / static_cast<double>(std::max<int64_t>(1, length))});
  }
  const std::string policy = call.view.get_string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || sizes.empty()) return sizes;
  require(call, policy == "not_larger" || policy == "not_smaller", "keep_aspect_ratio_policy is unknown");
  const auto by_scale = [](const ResizedAxis& a, const ResizedAxis& b) { return a.scale < b.scale; };
  const double scale = policy == "not_larger" ? std::min_element(sizes.begin(), sizes.end(), by_scale)->scale
                                              : std::max_element(sizes.begin(), sizes.end(), by_scale)->scale;
  for (ResizedAxis& size : sizes) {
    const double length = std::floor(scale * static_cast<double>(size.from) + 0.5);
    require(call, length < 0x1p48, "a size is impossible");
    size = {size.axis, size.from, static_cast<int64_t>(length), scale};
  }
  return sizes;
}

}  // namespace

ResizeOptions resize_options(const Call& call) {
  const NodeView& view = call.view;
  ResizeOptions options;
  options.mode = view.get_string("mode", "nearest");
  if (has_old_form(call)) options.nearest = "simple";
  if (has_old_form(call)) return options;
  options.coordinates = view.get_string("coordinate_transformation_mode", "half_pixel");
  options.nearest = view.get_string("nearest_mode", "round_prefer_floor");
  options.cubic_a = view.get_float("cubic_coeff_a", -0.75F);
  options.extrapolation = view.get_float("extrapolation_value", 0);
  options.exclude_outside = view.get_int("exclude_outside", 0) != 0;
  options.antialias = view.get_int("antialias", 0) != 0;
  return options;
}

std::vector<ResizedAxis> axes_from_scales(const Call& call, const Dims& dims, const std::vector<int>& axes,
                                          const std::vector<float>& scales) {
  if (scales.size() != axes.size())
    fail(call, fmt::format("{} scales are given for {} axes", scales.size(), axes.size()));
  std::vector<ResizedAxis> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t length = dims[static_cast<size_t>(axes[i])];
    sizes.push_back({axes[i], length, scaled_length(call, length, scales[i]), static_cast<double>(scales[i])});
  }
  return sizes;
}

std::vector<ResizedAxis> resized_axes(const Call& call, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  std::vector<int64_t> wanted = call.view.get_ints("axes");
  if (!call.view.has("axes"))
    for (int i = 0; i < rank; ++i) wanted.push_back(i);
  const std::vector<int> axes = axes_of(call, wanted, rank);
  const int scales = has_old_form(call) ? 1 : 2;
  std::vector<ResizedAxis> sizes;
  if (call.has(scales) && call.in(scales).size() > 0)
    sizes = axes_from_scales(call, dims, axes, to_floats(call.in(scales)));
  else if (call.has(3))
    sizes = axes_from_lengths(call, dims, axes, to_ints(call.in(3)));
  else
    fail(call, "neither scales nor sizes are given");
  if (resize_options(call).coordinates == "tf_crop_and_resize") {
    require(call, call.has(1) && call.in(1).size() == static_cast<int64_t>(2 * axes.size()),
            "roi must have two numbers for each axis");
    const std::vector<double> roi = to_doubles(call.in(1));
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i].roi_begin = roi[i];
      sizes[i].roi_end = roi[i + sizes.size()];
    }
  }
  return sizes;
}

AxisFilter resize_filter(const Call& call, const ResizeOptions& options, const ResizedAxis& size) {
  if (options.mode != "nearest" && options.mode != "linear" && options.mode != "bilinear" && options.mode != "cubic")
    fail(call, fmt::format("mode '{}' is unknown", options.mode));
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
    else if (options.mode == "nearest")
      filter.taps.push_back({{nearest_place(call, options, size.scale, x, size.from), 1}});
    else
      filter.taps.push_back(taps_at(shape, x, size.from));
  }
  return filter;
}

bool is_unchanged(const ResizeOptions& options, const ResizedAxis& size) {
  return options.mode != "nearest" && size.scale == 1 && size.from == size.to && size.roi_begin == 0 &&
         size.roi_end == 1;
}

}  // namespace mlopt::reference
