#pragma once
#include "backends/reference/compute.h"

namespace mlopt::reference {

/// Inputs 0 and 1 of a binary operator and the shape of the result; `b` is reshaped where an old opset's axis asks for
/// it.
struct Operands {
  Tensor a, b;
  Dims dims;
};

/// Throws naming the node when the shapes do not broadcast or, with `same_type`, the element types differ.
Operands operands(const Call& call, bool same_type = true);

}  // namespace mlopt::reference
