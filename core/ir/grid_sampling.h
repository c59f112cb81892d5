#pragma once
#include <cstdint>
#include <optional>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

/// What the attributes of GridSample say.
struct GridSampling {
  enum class Mode { kNearest, kLinear, kCubic };
  enum class Padding { kZeros, kBorder, kReflection };
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

/// Declines modes that the standard does not know.
Expected<GridSampling> grid_sampling(const NodeView& view);

/// One axis of the picture: its length and the ends at which coordinates are mirrored.
struct GridSide {
  int64_t length;
  double low, high;
};
GridSide grid_side(int64_t length, const GridSampling& how);

/// The coordinate that a grid value in [-1, 1] names, made finite and near the axis.
double grid_coordinate(double value, const GridSide& side, const GridSampling& how);

/// Where on the axis `place`, a whole number, is read: mirrored or brought inside; nothing outside, which is zero.
std::optional<int64_t> grid_place(double place, const GridSide& side, const GridSampling& how);

}  // namespace mlopt
