#pragma once
#include "core/ir/model.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Turns what emit_qdq() wrote into operators on the integers themselves: QLinearConv, QLinearMatMul, moves of codes,
/// and, unless the target is the plain standard, com.microsoft's QGemm, QLinearAdd, QLinearConcat and the like. Results
/// stay those of the QDQ form, up to one code; what has no such operator keeps its QuantizeLinear and DequantizeLinear.
void emit_qoperator(Model& model, const Spec& spec);

}  // namespace mlopt::quantize
