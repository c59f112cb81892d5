#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::quantize {

/// MatMul(Transpose(x), w) -> Transpose(MatMul(x, w)) where the last axis stays in its place and w is a constant
/// matrix. ONNX Runtime (1.31) crashes while it loads the first form in float16 for the CPU.
extern const Pass delay_transpose;

}  // namespace mlopt::quantize
