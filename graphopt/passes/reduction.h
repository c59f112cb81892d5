#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// Axes from 0 in ascending order. Nothing for one that is out of range or named twice.
std::optional<std::vector<int64_t>> ordered_axes(std::vector<int64_t> axes, int64_t rank);
/// The axes that Squeeze or Unsqueeze names, counted in the longer of its two shapes. Nothing where they are not
/// constant, not given, or the rank is not known.
std::optional<std::vector<int64_t>> squeezed_axes(const NodeView& view);

/// What a Reduce operator goes over.
struct Reduction {
  std::vector<int64_t> axes;  ///< from 0, ascending; none where it does nothing
  bool keepdims = true;
  bool all_axes = false;  ///< it names none and takes every one

  /// Declines axes or a rank that are not known.
  static Expected<Reduction> of(const NodeView& view);
  /// The shape of the result, with its axes kept as 1 or without them.
  SymDims shape(const SymDims& x, bool keep) const;
};

/// A Reduce operator over these axes, as the opset writes it.
Value* make_reduction(Builder& builder, std::string_view op, Value* x, const Reduction& reduction, Type type = {});
/// Squeeze or Unsqueeze by constant axes, as the opset writes it.
Value* make_squeeze(Builder& builder, std::string_view op, Value* x, const std::vector<int64_t>& axes, Type type = {});

}  // namespace mlopt::graphopt
