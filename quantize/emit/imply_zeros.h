#pragma once
#include "core/ir/model.h"

namespace mlopt::quantize {

/// ONNX Runtime (1.32 at least) fails to load many models of opset 21 and newer with int8 around zero: where it moves a
/// DequantizeLinear, the QuantizeLinear that it adds says int8 itself, and gets a zero point of uint8 later. So those
/// zero points are left out of DequantizeLinear, which takes the type of the codes. Older opsets keep them: there the
/// QuantizeLinear that it adds would round to uint8.
void imply_zeros(Model& model);

}  // namespace mlopt::quantize
