#pragma once
#include <string>
#include <string_view>

#include "core/ir/view.h"

namespace mlopt::cli {

/// Why a runtime that is not here cannot run the node, as far as its documentation of operators says; empty: it can.
/// TensorRT 10.15: operators, their element types, and limits of single operators.
std::string tensorrt_objection(const NodeView& view);
/// ONNX Runtime 1.31 on the CPU: operators of ai.onnx with opsets and element types, names of com.microsoft.
std::string ort_objection(const NodeView& view);
/// OpenVINO's ONNX frontend (2026): operators and element types.
std::string openvino_objection(const NodeView& view);

/// Is it one of the words, which single spaces separate?
bool lists(std::string_view words, std::string_view word);

}  // namespace mlopt::cli
