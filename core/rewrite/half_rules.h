#pragma once
#include "core/ir/graph.h"
#include "core/tensor/tensor.h"

namespace mlopt::half {

/// The largest number of float16 or bfloat16.
float largest(DType type);

/// Numbers that only mean "as far as there is": what masks out, limits that limit nothing.
bool is_huge(const Tensor& tensor);
/// Does the node take such a number for what it means?
bool may_mask(const Node& node);

/// Does every finite number stay finite in the type?
bool fits(const Tensor& tensor, DType type);

/// A float constant in the type. A number alone keeps its meaning: a small one (the epsilon of a division) becomes the
/// least there is instead of 0, a huge one (of a mask) the largest instead of infinity. What bfloat16 would round to
/// infinity becomes its largest.
Tensor rounded(const Tensor& tensor, DType type);

/// Do the node's results or sums leave the range of float16 for ordinary operands, as the square of 256 does? With
/// `sums_in_float32` a mean is where its operands are.
bool overflows(const Node& node, bool sums_in_float32);

/// A batch normalization knows the mean and variance of what it is given: is that beyond float16?
bool feeds_wide_statistics(const Node& node);

}  // namespace mlopt::half
