#pragma once
#include <string>
#include <vector>

#include "backends/reference/resample.h"
#include "core/exec/kernel.h"

namespace mlopt::reference {

/// An axis of a Resize or Upsample.
struct ResizedAxis {
  int axis;
  int64_t from, to;
  double scale;
  double roi_begin = 0, roi_end = 1;
};

/// How positions of the output are found in the input; by default as Upsample does.
struct ResizeOptions {
  std::string mode = "nearest", coordinates = "asymmetric", nearest = "floor";
  double cubic_a = -0.75;
  double extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

/// Of the attributes of a Resize, or of its gradient, which has those of the newest opset.
ResizeOptions resize_options(const Call& call);
/// The axes of an input of shape `dims`: from the inputs roi, scales and sizes, which lie where Resize has them.
std::vector<ResizedAxis> resized_axes(const Call& call, const Dims& dims);
/// One scale for each axis of `axes`. Throws Error{kBadInput} naming the node.
std::vector<ResizedAxis> axes_from_scales(const Call& call, const Dims& dims, const std::vector<int>& axes,
                                          const std::vector<float>& scales);
/// Where each position along the axis comes from. Throws Error{kBadInput} for an unknown mode.
AxisFilter resize_filter(const Call& call, const ResizeOptions& options, const ResizedAxis& axis);
/// An interpolation leaves the axis as it is.
bool is_unchanged(const ResizeOptions& options, const ResizedAxis& axis);

}  // namespace mlopt::reference
