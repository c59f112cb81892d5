#pragma once
#include <cstdint>
#include <vector>

#include "core/train/builder.h"

namespace mlopt::distill {

// Nodes that several losses are made of, in the opset of the graph. Shapes are static.

Value* scaled(train::Builder& b, Value* x, double factor);
Value* reshaped(train::Builder& b, Value* x, const Dims& dims);
/// [a, b, c, ...] as [a, b * c * ...].
Value* rows(train::Builder& b, Value* x);
/// Sum over `axes`, which stay with size 1.
Value* sum(train::Builder& b, Value* x, const std::vector<int64_t>& axes);
/// Mean over `axes`, which stay with size 1.
Value* mean(train::Builder& b, Value* x, const std::vector<int64_t>& axes);
Value* square(train::Builder& b, Value* x);
/// Mean of (x - y)^2 over all elements, a scalar.
Value* mean_square(train::Builder& b, Value* x, Value* y);
/// x / |x| along the last axis, 0 where x is 0.
Value* normalized(train::Builder& b, Value* x);

}  // namespace mlopt::distill
