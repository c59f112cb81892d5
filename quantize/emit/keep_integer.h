#pragma once
#include "core/ir/model.h"

namespace mlopt::quantize {

/// ONNX Runtime makes one Gemm of a MatMul and the Add after it before it looks for integers, and a Gemm that adds
/// floats has no integer kernel. A bias of three or more dimensions is none that a Gemm could take; a product of fewer
/// is parted from its Add by a LeakyRelu of slope 1.
void keep_integer(Model& model);

}  // namespace mlopt::quantize
