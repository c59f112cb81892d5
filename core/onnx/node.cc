#include "core/onnx/node.h"

#include "core/onnx/tools.h"

namespace mlopt::proto {

constexpr int64_t kMostElements = 4096;  // of a constant that shapes may depend on

const onnx::OpSchema* schema_of(const NodeView& view) {
  if (view.opset() < 1 || view.opset() > INT32_MAX) return nullptr;
  return onnx::OpSchemaRegistry::Schema(view.node().op, static_cast<int>(view.opset()), view.node().domain);
}

namespace {

onnx::NodeProto message_of(const Node& node, Blobs& blobs,
                           const std::function<void(const Graph&, onnx::GraphProto&)>& write_body) {
  onnx::NodeProto message;
  message.set_op_type(node.op);
  message.set_domain(node.domain);
  message.set_name(node.name);
  for (const Value* value : node.inputs()) message.add_input(value ? value->name : "");
  for (const Value* value : node.outputs()) message.add_output(value ? value->name : "");
  for (const Attr& attr : node.attrs) write_attribute(attr, *message.add_attribute(), blobs, write_body);
  return message;
}

}  // namespace

onnx::NodeProto node_message(const Node& node) {
  Blobs blobs;
  return message_of(node, blobs, [](const Graph&, onnx::GraphProto&) {});
}

std::optional<onnx::NodeProto> whole_message(const Node& node) {
  if (node.bodies().empty()) return node_message(node);
  Blobs blobs;
  onnx::NodeProto message = message_of(node, blobs, [&](const Graph& body, onnx::GraphProto& out) {
    write_graph(body, out, blobs, newest_ir_version());
  });
  if (!blobs.empty()) return std::nullopt;
  return message;
}

std::optional<onnx::TypeProto> known_type(const Value& value) {
  if (value.type.kind == Type::Kind::kUnknown) return std::nullopt;
  return write_type(value.type);
}

std::optional<onnx::TensorProto> small_constant(const Value& value) {
  const Tensor* tensor = value.known_constant();
  if (!tensor || tensor->size() > kMostElements) return std::nullopt;
  onnx::TensorProto message;
  Blobs blobs;
  write_tensor(*tensor, message, blobs);
  if (!blobs.empty()) message.set_raw_data(blobs[0].raw(), blobs[0].bytes());
  return message;
}

}  // namespace mlopt::proto
