#pragma once
#include "core/tensor/tensor.h"

namespace mlopt {

/// Floats of any type times a number, multiplied in double; of the type and shape that they had.
Tensor scaled(const Tensor& numbers, double by);

}  // namespace mlopt
