#pragma once
#include <optional>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

/// A neighbour that an output position shows, and how much of it.
struct ResizeTap {
  int64_t place;  ///< below 0: the position shows ResizePlan::outside
  float weight;
};

/// How one axis is resized: `taps` neighbours for each output position.
struct ResizeFilter {
  size_t axis = 0;  ///< of ONNX's order
  int64_t from = 1, to = 1;
  size_t taps = 1;
  std::vector<ResizeTap> table = {};  ///< [to][taps]
};

/// A Resize or Upsample with constant sizes, one axis after the other: those first that leave least to do.
struct ResizePlan {
  bool moves = false;                 ///< nothing is computed: each output is one input
  std::optional<float> outside = {};  ///< where positions lie outside of the input (tf_crop_and_resize)
  std::vector<ResizeFilter> filters;
  Dims out;
};

/// The plan of a node for an input of these dims. Declines sizes and regions that are not constant.
Expected<ResizePlan> resize_plan(const NodeView& view, const Dims& in);

}  // namespace mlopt
