#pragma once
#include "core/tensor/tensor.h"

namespace mlopt {

/// Is no number NaN or infinite? Integers and the like never are.
bool is_finite(const Tensor& t);

}  // namespace mlopt
