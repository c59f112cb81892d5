#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::quantize {

/// A node that makes codes, makes numbers of codes, or computes with them; null: the model is in floats.
const Node* first_quantized(const Model& model);

/// A model that was quantized, by whatever tool, in floats: weights are the numbers that their codes stand for, and
/// activations are rounded no more. Codes of activations that begin or end at zero are an activation function as well,
/// and stay one, as a Clip. QuantizeLinear and DequantizeLinear with constant steps, operators on integers
/// (QLinearConv, QGemm, MatMulInteger behind DynamicQuantizeLinear, ...), MatMulNBits, MatMulBnb4 and codebooks are
/// understood. Codes that the model itself takes or gives stay. Gives how many nodes are gone that had to do with
/// codes. Throws Error{kUnsupported} naming the first that is not understood.
int64_t restore_floats(Model& model, const PassContext& context);

}  // namespace mlopt::quantize
