#include "core/ir/grid_sampling.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace mlopt {
namespace {

using Mode = GridSampling::Mode;
using Padding = GridSampling::Padding;

/// `x` mirrored at both ends of [low, high] until it lies between them.
double reflected(double x, double low, double high) {
  const double span = high - low;
  if (!(span > 0)) return low;
  const double distance = std::fmod(std::abs(x - low), 2 * span);
  return low + (distance <= span ? distance : 2 * span - distance);
}

}  // namespace

Expected<GridSampling> grid_sampling(const NodeView& view) {
  const std::string mode = view.get_string("mode", "linear"), padding = view.get_string("padding_mode", "zeros");
  GridSampling how;
  how.align_corners = view.get_int("align_corners", 0) != 0;
  if (mode == "nearest")
    how.mode = Mode::kNearest;
  else if (mode == "cubic" || mode == "bicubic")
    how.mode = Mode::kCubic;
  else if (mode != "linear" && mode != "bilinear")
    return Decline{"mode '" + mode + "' is unknown"};
  if (padding == "border")
    how.padding = Padding::kBorder;
  else if (padding == "reflection")
    how.padding = Padding::kReflection;
  else if (padding != "zeros")
    return Decline{"padding_mode '" + padding + "' is unknown"};
  return how;
}

GridSide grid_side(int64_t length, const GridSampling& how) {
  const double half = how.align_corners ? 0 : 0.5;
  return {length, -half, static_cast<double>(length - 1) + half};
}

double grid_coordinate(double value, const GridSide& side, const GridSampling& how) {
  const auto length = static_cast<double>(side.length);
  double x = how.align_corners ? (value + 1) / 2 * (length - 1) : ((value + 1) * length - 1) / 2;
  if (!std::isfinite(x)) x = -3;
  if (how.mode == Mode::kNearest) x = std::nearbyint(x);
  if (x < side.low || x > side.high) {
    if (how.padding == Padding::kBorder) x = std::clamp(x, 0.0, length - 1);
    if (how.padding == Padding::kReflection) x = reflected(x, side.low, side.high);
  }
  return std::clamp(x, -4.0, length + 3);  // from there on nothing of the picture is in reach
}

std::optional<int64_t> grid_place(double place, const GridSide& side, const GridSampling& how) {
  const auto length = static_cast<double>(side.length);
  if (how.padding == Padding::kReflection) place = std::trunc(reflected(place, side.low, side.high));
  if (how.padding != Padding::kZeros) place = std::clamp(place, 0.0, length - 1);
  if (place < 0 || place >= length) return std::nullopt;
  return static_cast<int64_t>(place);
}

}  // namespace mlopt
