#pragma once
#include <cstdint>

#include "core/ir/graph.h"

namespace mlopt::cli {

/// A set of element types.
constexpr uint32_t bit(DType type) { return uint32_t{1} << static_cast<int>(type); }

/// The element type by which runtimes choose a kernel of the node: of its values, not of a condition or of indices.
/// kUndefined where it is not known, or where the value is no tensor.
DType deciding_type(const Node& node);

}  // namespace mlopt::cli
