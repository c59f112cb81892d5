#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// A Slice by constants: for each named axis, from 0, its start, end and step.
struct Slicing {
  std::vector<int64_t> axes, starts, ends, steps;

  /// Nothing where something is not constant, an axis is named twice, or the rank is not known.
  static std::optional<Slicing> of(const NodeView& view);
  Value* make(Builder& builder, Value* x, Type type = {}) const;
};

/// The axis that the Slice of such inputs as x turns round, which it takes all of, and nothing else.
std::optional<size_t> reversed_axis(const NodeView& slice);
/// x turned round along an axis; the opset has steps of Slice (10).
Value* reversed(Builder& builder, Value* x, size_t axis);

}  // namespace mlopt::graphopt
