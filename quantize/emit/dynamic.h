#pragma once
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// MatMul and Gemm with constant weights -> DynamicQuantizeLinear, MatMulInteger, Cast, Mul (, Add), the form that
/// runtimes fuse. Opset 11 or later.
Emitted emit_dynamic(Model& model, const Spec& spec);

}  // namespace mlopt::quantize
