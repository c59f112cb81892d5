#pragma once
#include <string_view>

#include "core/ir/type.h"

namespace mlopt::infer_rules {

/// What an operator of ONNX makes of two whole numbers, of which one or both may be sizes of axes, whatever these are;
/// comparisons give 0 or 1. Unknown where that depends on the sizes, for other operators, and beyond 64 bits.
Dim combine(std::string_view op, const Dim& a, const Dim& b);

}  // namespace mlopt::infer_rules
