#pragma once
#include "core/rewrite/pass.h"

// What restore_floats() is made of, one pass for each file.
namespace mlopt::quantize {

/// Operators on integers as DequantizeLinear, the operator on floats, and QuantizeLinear.
extern const Pass restore_operators;
/// Layers of com.microsoft that hold weights in codes as the layers by floats.
extern const Pass restore_layers;
/// QONNX's Quant and BipolarQuant by standard operators of opset 11 or later.
extern const Pass restore_qonnx;
/// Integer products of what DynamicQuantizeLinear gives as products of what it is given.
extern const Pass restore_dynamic;
/// DequantizeLinear of constants as constants, in front of what only moves codes, and gone behind QuantizeLinear.
extern const Pass restore_steps;

/// Inputs that hold codes, their scale and their zero point; -1: there is no such input.
struct Operand {
  int codes = -1, scale = -1, zero = -1;
};

/// The numbers of an operand, its scales along `axis`: a constant, what was quantized at run time, or a
/// DequantizeLinear.
Expected<Value*> floats(const Node& node, const Operand& at, int64_t axis, Builder& builder);

/// The numbers that constant codes stand for: (codes - zero) scale, with a scale for all, for each index of `axis`, or
/// for each `block` along it. Of the scale's type.
Tensor decoded(const Tensor& codes, const Tensor& scale, const Tensor* zero, int64_t axis, int64_t block = 0);

}  // namespace mlopt::quantize
