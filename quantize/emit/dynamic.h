#pragma once
#include <map>
#include <string>

#include "core/ir/model.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// MatMul and Gemm with constant weights -> DynamicQuantizeLinear, MatMulInteger, Cast, Mul (, Add), the form that
/// runtimes fuse. Gives why the other nodes with weights stay float, by node. Opset 11 or later.
std::map<std::string, std::string> emit_dynamic(Model& model, const Spec& spec);

}  // namespace mlopt::quantize
