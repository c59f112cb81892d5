#pragma once
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// MatMul and Gemm with constant weights -> DynamicQuantizeLinear, MatMulInteger, Cast, Mul (, Add), the form that
/// runtimes fuse; with spec.per_token standard operators that round each row of the input by itself. Opset 11 or later.
Emitted emit_dynamic(Model& model, const Spec& spec);

/// The nodes whose weights it stores, and the codes of one's weight, with scales along weight_axis() or one for all.
std::vector<const Node*> dynamic_products(const Model& model, const Spec& spec);
QuantizedWeight dynamic_codes(const Node& product, const Spec& spec);

}  // namespace mlopt::quantize
