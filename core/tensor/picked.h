#pragma once
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// What lies at these positions of the axis, in their order; of a type whose elements are whole bytes.
Tensor picked(const Tensor& tensor, int axis, const std::vector<int64_t>& positions);
/// The rows of a matrix as its columns; of a type whose elements are whole bytes.
Tensor transposed(const Tensor& matrix);

}  // namespace mlopt
