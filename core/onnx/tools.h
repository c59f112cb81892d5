#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// Findings of ONNX's own checker and strict shape inference, one sentence each; empty when the model is valid.
std::vector<std::string> check_with_onnx(const Model& model);
/// ONNX's version converter to `opset` of ai.onnx. Throws Error{kUnsupported} naming the operator that cannot be
/// converted.
Model convert_opset(const Model& model, int64_t opset);
/// Local functions replaced by their bodies, at every depth; names stay unique.
void inline_functions(Model& model);
/// Does the linked standard know this operator at this version?
bool known_operator(std::string_view domain, std::string_view op, int64_t opset);
/// The newest opset of ai.onnx and the newest IR version that the linked standard knows.
int64_t newest_opset();
int64_t newest_ir_version();

}  // namespace mlopt
