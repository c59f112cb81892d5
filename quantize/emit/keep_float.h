#pragma once
#include "core/ir/model.h"

namespace mlopt::quantize {

/// ONNX Runtime turns a float Conv, ConvTranspose or Gemm between a DequantizeLinear and a QuantizeLinear into integers
/// after all, with one scale for the whole weight. A LeakyRelu of slope 1 after it, which runtimes fuse into it, keeps
/// in float what was meant to be.
void keep_float(Model& model);

}  // namespace mlopt::quantize
