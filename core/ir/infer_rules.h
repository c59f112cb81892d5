#pragma once
#include <optional>
#include <vector>

#include "core/ir/view.h"

namespace mlopt::infer_rules {

/// Elements of a small integer or bool tensor of shape arithmetic, from its data or as propagated; at most
/// kMostElements.
inline constexpr int64_t kMostElements = 64;
std::optional<std::vector<Dim>> elements(const Value* value);

/// The same of a value that may also be of floats, where these are whole numbers.
std::optional<std::vector<Dim>> whole_elements(const Value* value);

/// Elements of the node's first output in terms of those of its inputs; nothing where they are not known.
std::optional<std::vector<Dim>> output_elements(const NodeView& view);

/// The dimensions that Shape gives; nothing where not even the rank is known.
std::optional<std::vector<Dim>> shape_elements(const NodeView& view);

/// Output types for operators where symbolic dimensions matter; nothing for operators that are not in the table.
std::optional<std::vector<Type>> output_types(const NodeView& view);

/// Shape of a convolution or pool window: spatial sizes from kernel, stride, pads, dilations, auto_pad and ceil_mode.
SymDims window_output(const NodeView& view, const SymDims& input, const std::vector<int64_t>& kernel);

}  // namespace mlopt::infer_rules
