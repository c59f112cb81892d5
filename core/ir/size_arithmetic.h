#pragma once
#include <string_view>

#include "core/ir/type.h"

namespace mlopt::infer_rules {

/// What an operator of ONNX makes of two whole numbers, of which one or both may be sizes of axes, whatever these are;
/// comparisons give 0 or 1. Unknown where that depends on the sizes, for other operators, and beyond 64 bits.
Dim combine(std::string_view op, const Dim& a, const Dim& b);

/// Every symbol is the size of an axis: a sum of positive terms is not negative.
bool never_negative(const Dim& d);

}  // namespace mlopt::infer_rules
