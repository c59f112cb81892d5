#pragma once
#include "core/ir/graph.h"

namespace mlopt::fusion {

/// Whether ONNX Runtime makes one Gemm of the product `matmul` and the row that is added to it, once it loads the file:
/// it does with a constant matrix where all sizes are known, and what hides the addition from it costs that.
bool becomes_gemm(const Node& matmul);

}  // namespace mlopt::fusion
