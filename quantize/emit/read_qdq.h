#pragma once
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"

namespace mlopt::quantize {

/// Do layers of the model read their weights from codes, behind a DequantizeLinear?
bool has_coded_layers(const Model& model);

/// What emit_qdq() would have said of a model that somebody else wrote, for emit_fake(): `floats` of the weights and
/// biases of its layers; steps and zero points are given the form that emit_qdq() gives them. Throws Error{kBadInput}
/// for codes of another kind (in blocks, with zero points of weights, of half floats, with steps that are computed).
Emitted read_qdq(Model& model);

}  // namespace mlopt::quantize
