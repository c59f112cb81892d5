#pragma once
#include <memory>

#include "core/exec/backend.h"

namespace mlopt {

/// The judge: plain kernels in the type of the tensors, node by node. Float16, bfloat16 and smaller floats are computed
/// in float32 and rounded after every node; a graph converted to float64 (see core/rewrite/to_double.h) runs in double.
std::unique_ptr<Backend> reference_backend();

}  // namespace mlopt
