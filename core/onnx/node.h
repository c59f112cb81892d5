#pragma once
// One node of ours as ONNX's schemas see it.
#include <onnx/defs/schema.h>

#include <optional>

#include "core/ir/view.h"
#include "core/onnx/proto.h"

namespace mlopt::proto {

/// The schema of the node's operator at the view's opset; null when the standard does not know it.
const onnx::OpSchema* schema_of(const NodeView& view);
/// Operator, names of inputs and outputs, attributes; without bodies and large data.
onnx::NodeProto node_message(const Node& node);
/// The same with its bodies; nothing where they have large data.
std::optional<onnx::NodeProto> whole_message(const Node& node);
/// Nothing when the IR knows no type.
std::optional<onnx::TypeProto> known_type(const Value& value);
/// The data of a constant that shapes may depend on; nothing for larger ones.
std::optional<onnx::TensorProto> small_constant(const Value& value);

}  // namespace mlopt::proto
