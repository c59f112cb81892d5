#pragma once
#include <limits>
#include <optional>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// What Clip and Relu let through: [low, high], of floats.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  /// Of Relu, or of Clip with constant limits that are in order; nothing for other operators.
  static std::optional<Limits> of(const NodeView& view);
};

/// Clip(x, limits), or Relu where that is the same. Infinite limits are written too: a limit that Clip lacks is the
/// largest finite number, beyond which infinities would not get. `x` is of floats, the opset 6 or more.
Value* make_clip(Builder& builder, Value* x, const Limits& limits);

/// Is no element of it ever negative? NaN may be.
bool never_negative(const Value& value, const Builder& builder);

}  // namespace mlopt::graphopt
