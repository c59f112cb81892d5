#include "core/ir/resize_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

struct Options {
  std::string mode, coordinates = "asymmetric", nearest = "floor", policy = "stretch";
  double cubic_a = -0.75;
  bool antialias = false, exclude_outside = false;

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// The part of an axis that is shown, in shares of its length.
struct Region {
  double begin = 0, end = 1;
};

/// The place in the input that output position `x` shows; nothing for modes that nobody knows.
std::optional<double> source(const Options& o, const ResizeFilter& f, double scale, const Region& region, double x) {
  const auto from = static_cast<double>(f.from), out = scale * from;
  if (o.coordinates == "asymmetric") return x / scale;
  if (o.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (o.coordinates == "align_corners") return out == 1 ? 0 : x * (from - 1) / (out - 1);
  if (o.coordinates == "pytorch_half_pixel") return out == 1 ? -0.5 : (x + 0.5) / scale - 0.5;
  if (o.coordinates == "half_pixel_symmetric")
    return from / 2 * (1 - static_cast<double>(f.to) / out) + (x + 0.5) / scale - 0.5;
  if (o.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (!o.crops()) return std::nullopt;
  const double first = region.begin * (from - 1), span = region.end * (from - 1) - first;
  return first + (out == 1 ? span / 2 : x * span / (out - 1));
}

std::optional<double> nearest_of(const Options& o, double scale, double x) {
  const double low = std::floor(x);
  // Resize of opset 10. What is a whole number but for the rounding of the scale is that number.
  if (o.nearest == "simple") return scale < 1 ? std::ceil(static_cast<float>(x)) : low;
  if (o.nearest == "floor") return low;
  if (o.nearest == "ceil") return std::ceil(x);
  if (o.nearest == "round_prefer_floor") return x - low <= 0.5 ? low : low + 1;
  if (o.nearest == "round_prefer_ceil") return x - low < 0.5 ? low : low + 1;
  return std::nullopt;
}

/// Keys' cubic kernel (Keys 1981).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

/// How much the neighbour at a distance counts.
double weight_of(const Options& o, double distance) {
  return o.mode == "cubic" ? cubic(distance, o.cubic_a) : std::max(0.0, 1 - std::abs(distance));
}

/// Neighbours of `x`, as far as the kernel reaches where it is stretched, whose weights make 1.
std::vector<std::pair<double, double>> weighted(const Options& o, size_t taps, double x, double last, double stretch) {
  std::vector<std::pair<double, double>> all;
  double sum = 0;
  const double first = std::floor(x) + 1 - static_cast<double>(taps / 2);
  for (size_t k = 0; k < taps; ++k) {
    const double place = first + static_cast<double>(k);
    const bool counts = !o.exclude_outside || (place >= 0 && place <= last);
    all.emplace_back(place, counts ? weight_of(o, (place - x) * stretch) : 0);
    sum += all.back().second;
  }
  if (sum == 0) all[taps / 2 - 1].second = sum = 1;
  for (auto& [place, weight] : all) weight /= sum;
  return all;
}

/// Fills the filter's table; false for modes that nobody knows.
bool fill(ResizeFilter& f, const Options& o, double scale, const Region& region) {
  const double stretch = o.antialias ? std::min(1.0, scale) : 1, last = static_cast<double>(f.from - 1);
  const double reach = (o.mode == "cubic" ? 2 : 1) / stretch;
  f.taps = o.mode == "nearest" ? 1 : 2 * static_cast<size_t>(std::ceil(reach));
  const auto tap = [&](double place, double weight) {
    f.table.push_back({static_cast<int64_t>(std::clamp(place, 0.0, last)), static_cast<float>(weight)});
  };
  for (int64_t i = 0; i < f.to; ++i) {
    const auto x = source(o, f, scale, region, static_cast<double>(i));
    if (!x) return false;
    if (o.crops() && !(*x >= 0 && *x <= last)) {
      f.table.insert(f.table.end(), f.taps, {-1, 0});
    } else if (f.taps == 1) {
      const auto place = nearest_of(o, scale, *x);
      if (!place) return false;
      tap(*place, 1);
    } else {
      for (const auto& [place, weight] : weighted(o, f.taps, *x, last, stretch)) tap(place, weight);
    }
  }
  return true;
}

/// What the node asks for: scales or lengths for some axes.
struct Asked {
  std::vector<float> scales;
  std::vector<int64_t> lengths, axes;
  std::vector<Region> regions;  ///< one for each of them, or none
  Options options;

  size_t count() const { return std::max(scales.size(), lengths.size()); }
};

Expected<Options> options_of(const NodeView& view, bool old) {
  Options o;
  o.mode = view.get_string("mode", "nearest");
  if (o.mode == "bilinear") o.mode = "linear";
  if (o.mode != "nearest" && o.mode != "linear" && o.mode != "cubic") return Decline{"an unknown mode"};
  if (old && view.node().op == "Resize") o.nearest = "simple";
  if (old) return o;
  o.coordinates = view.get_string("coordinate_transformation_mode", "half_pixel");
  o.nearest = view.get_string("nearest_mode", "round_prefer_floor");
  o.policy = view.get_string("keep_aspect_ratio_policy", "stretch");
  o.cubic_a = view.get_float("cubic_coeff_a", -0.75f);
  o.antialias = view.get_int("antialias", 0) != 0;
  o.exclude_outside = view.get_int("exclude_outside", 0) != 0;
  return o;
}

Expected<Asked> asked_of(const NodeView& view) {
  const bool upsample = view.node().op == "Upsample";
  const bool old = upsample || (view.node().op == "Resize" && view.opset() < 11);  // mlopt.ResizeGrad is as new ones
  const Tensor *scales = view.constant(old ? 1 : 2), *lengths = old ? nullptr : view.constant(3);
  Asked asked;
  if (upsample && view.has("scales"))
    asked.scales = view.get_floats("scales");
  else if (scales && scales->size() > 0)
    asked.scales = to_floats(*scales);
  else if (lengths && (!view.node().input(2) || (scales && scales->size() == 0)))
    asked.lengths = to_ints(*lengths);
  else
    return Decline{"the sizes are not constant"};
  asked.axes = view.get_ints("axes");
  auto options = options_of(view, old);
  if (!options) return options.error();
  asked.options = *std::move(options);
  if (!asked.options.crops()) return asked;
  const Tensor* roi = view.constant(1);
  if (!roi || roi->size() != static_cast<int64_t>(2 * asked.count())) return Decline{"the region is not constant"};
  const std::vector<double> numbers = to_doubles(*roi);
  for (size_t i = 0; i < asked.count(); ++i) asked.regions.push_back({numbers[i], numbers[i + asked.count()]});
  return asked;
}

/// One scale for all axes where lengths are asked for whose ratio is to stay; nothing where each has its own.
Expected<std::optional<double>> common_scale(const Asked& asked, const Dims& dims, const std::vector<size_t>& axes) {
  if (asked.options.policy == "stretch" || asked.lengths.empty()) return std::optional<double>();
  const bool larger = asked.options.policy == "not_smaller";
  if (!larger && asked.options.policy != "not_larger") return Decline{"an unknown policy"};
  std::vector<double> scales;
  for (size_t i = 0; i < axes.size(); ++i)
    scales.push_back(static_cast<double>(asked.lengths[i]) / static_cast<double>(dims[axes[i]]));
  return std::optional(larger ? *std::max_element(scales.begin(), scales.end())
                              : *std::min_element(scales.begin(), scales.end()));
}

/// The filters by axis of ONNX's order; `out` becomes the dims of the output.
Expected<std::vector<ResizeFilter>> filters_of(const Asked& asked, Dims& out) {
  const auto rank = static_cast<int64_t>(out.size());
  if (asked.count() != (asked.axes.empty() ? out.size() : asked.axes.size()))
    return Decline{"sizes do not fit the axes"};
  std::vector<size_t> axes;
  for (size_t i = 0; i < asked.count(); ++i)
    axes.push_back(asked.axes.empty() ? i : static_cast<size_t>(normalize_axis(asked.axes[i], rank)));
  const auto common = common_scale(asked, out, axes);
  if (!common) return common.error();
  std::vector<ResizeFilter> filters;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeFilter f{axes[i], out[axes[i]], out[axes[i]], 1, {}};
    const auto from = static_cast<double>(f.from);
    const bool scaled = !asked.scales.empty();
    const double length = scaled    ? std::floor(static_cast<float>(f.from) * asked.scales[i])
                          : *common ? std::floor(**common * from + 0.5)
                                    : static_cast<double>(asked.lengths[i]);
    if (!(length >= 1) || length > 1e7) return Decline{"an empty or impossible axis"};
    f.to = static_cast<int64_t>(length);
    out[f.axis] = f.to;
    const double scale = scaled ? static_cast<double>(asked.scales[i]) : *common ? **common : length / from;
    const Region region = asked.regions.empty() ? Region{} : asked.regions[i];
    if (scale == 1 && region.begin == 0 && region.end == 1) continue;
    if (!fill(f, asked.options, scale, region)) return Decline{"an unknown mode"};
    filters.push_back(std::move(f));
  }
  element_count(out);  // throws for sizes that no memory holds
  std::sort(filters.begin(), filters.end(),
            [](const ResizeFilter& a, const ResizeFilter& b) { return a.to * b.from < b.to * a.from; });
  return filters;
}

}  // namespace

Expected<ResizePlan> resize_plan(const NodeView& view, const Dims& in) {
  const auto asked = asked_of(view);
  if (!asked) return asked.error();
  ResizePlan plan{asked->options.mode == "nearest", {}, {}, in};
  if (asked->options.crops()) plan.outside = view.get_float("extrapolation_value", 0);
  auto filters = filters_of(*asked, plan.out);
  if (!filters) return filters.error();
  plan.filters = *std::move(filters);
  return plan;
}

}  // namespace mlopt
