#include "core/ir/resize_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

struct Options {
  std::string mode, coordinates = "asymmetric", nearest = "floor";
  double cubic_a = -0.75;
};

/// The place in the input that output position `x` shows; nothing for modes that the reference kernel has.
std::optional<double> source(const Options& o, double x, double from, double to, double scale) {
  const double out = scale * from;
  if (o.coordinates == "asymmetric") return x / scale;
  if (o.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (o.coordinates == "align_corners") return out == 1 ? 0 : x * (from - 1) / (out - 1);
  if (o.coordinates == "pytorch_half_pixel") return out == 1 ? -0.5 : (x + 0.5) / scale - 0.5;
  if (o.coordinates == "half_pixel_symmetric") return from / 2 * (1 - to / out) + (x + 0.5) / scale - 0.5;
  return std::nullopt;
}

std::optional<double> nearest_of(const Options& o, double x) {
  const double low = std::floor(x);
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

/// Fills the filter's table; false for modes that the reference kernel has.
bool fill(ResizeFilter& f, const Options& o, double scale) {
  f.taps = o.mode == "nearest" ? 1 : o.mode == "cubic" ? 4 : 2;
  const auto tap = [&](double place, double weight) {
    f.table.push_back(
        {static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(f.from - 1))), static_cast<float>(weight)});
  };
  for (int64_t i = 0; i < f.to; ++i) {
    const auto x = source(o, static_cast<double>(i), static_cast<double>(f.from), static_cast<double>(f.to), scale);
    if (!x) return false;
    const double low = std::floor(*x), rest = *x - low;
    if (f.taps == 1) {
      const auto place = nearest_of(o, *x);
      if (!place) return false;
      tap(*place, 1);
    } else if (f.taps == 2) {
      tap(low, 1 - rest);
      tap(low + 1, rest);
    } else {
      for (int k = -1; k <= 2; ++k) tap(low + k, cubic(rest - k, o.cubic_a));
    }
  }
  return true;
}

/// What the node asks for: scales or lengths for some axes.
struct Asked {
  std::vector<float> scales;
  std::vector<int64_t> lengths, axes;
  Options options;
};

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
  Options& o = asked.options;
  o.mode = view.get_string("mode", "nearest");
  if (o.mode == "bilinear") o.mode = "linear";
  if (o.mode != "nearest" && o.mode != "linear" && o.mode != "cubic") return Decline{"a rare mode"};
  if (old) return asked;
  o.coordinates = view.get_string("coordinate_transformation_mode", "half_pixel");
  o.nearest = view.get_string("nearest_mode", "round_prefer_floor");
  o.cubic_a = view.get_float("cubic_coeff_a", -0.75f);
  const bool plain = view.get_int("antialias", 0) == 0 && view.get_int("exclude_outside", 0) == 0;
  if (!plain || view.get_string("keep_aspect_ratio_policy", "stretch") != "stretch") return Decline{"a rare mode"};
  return asked;
}

/// The filters by axis of ONNX's order; `out` becomes the dims of the output.
Expected<std::vector<ResizeFilter>> filters_of(const Asked& asked, Dims& out) {
  const auto rank = static_cast<int64_t>(out.size());
  const size_t count = std::max(asked.scales.size(), asked.lengths.size());
  if (count != (asked.axes.empty() ? out.size() : asked.axes.size())) return Decline{"sizes do not fit the axes"};
  std::vector<ResizeFilter> filters;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = asked.axes.empty() ? i : static_cast<size_t>(normalize_axis(asked.axes[i], rank));
    ResizeFilter f{axis, out[axis], out[axis], 1, {}};
    const bool scaled = !asked.scales.empty();
    const double length =
        scaled ? std::floor(static_cast<float>(f.from) * asked.scales[i]) : static_cast<double>(asked.lengths[i]);
    if (!(length >= 1) || length > 1e7) return Decline{"an empty or impossible axis"};
    f.to = static_cast<int64_t>(length);
    out[axis] = f.to;
    const double scale = scaled ? static_cast<double>(asked.scales[i]) : length / static_cast<double>(f.from);
    if (scale == 1) continue;
    if (!fill(f, asked.options, scale)) return Decline{"a rare mode"};
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
  ResizePlan plan{asked->options.mode == "nearest", {}, in};
  auto filters = filters_of(*asked, plan.out);
  if (!filters) return filters.error();
  plan.filters = *std::move(filters);
  return plan;
}

}  // namespace mlopt
