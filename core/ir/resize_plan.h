#pragma once
#include <vector>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

/// A neighbour that an output position shows, and how much of it.
struct ResizeTap {
  int64_t place;
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
  bool moves = false;  ///< nothing is computed: each output is one input
  std::vector<ResizeFilter> filters;
  Dims out;
};

/// The plan of a node for an input of these dims. Declines sizes that are not constant and rare modes, which the
/// reference kernel has.
Expected<ResizePlan> resize_plan(const NodeView& view, const Dims& in);

}  // namespace mlopt
