// For ONNX's own tools, which want a whole message: large data stay outside, something small stands in for them.
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

using Visit = std::function<void(onnx::TensorProto&)>;

void walk(onnx::GraphProto& graph, const Visit& visit);

void walk(onnx::AttributeProto& attribute, const Visit& visit) {
  if (attribute.has_t()) visit(*attribute.mutable_t());
  for (auto& tensor : *attribute.mutable_tensors()) visit(tensor);
  if (attribute.has_g()) walk(*attribute.mutable_g(), visit);
  for (auto& graph : *attribute.mutable_graphs()) walk(graph, visit);
}

void walk(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const Visit& visit) {
  for (auto& node : nodes)
    for (auto& attribute : *node.mutable_attribute()) walk(attribute, visit);
}

void walk(onnx::GraphProto& graph, const Visit& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  walk(*graph.mutable_node(), visit);
}

}  // namespace

void for_each_tensor(onnx::ModelProto& model, const Visit& visit) {
  walk(*model.mutable_graph(), visit);
  for (auto& function : *model.mutable_functions()) {
    for (auto& attribute : *function.mutable_attribute_proto()) walk(attribute, visit);
    walk(*function.mutable_node(), visit);
  }
}

void fill_in(Written& written, size_t limit, const std::function<void(onnx::TensorProto&, uint64_t)>& stand_in) {
  for_each_tensor(written.message, [&](onnx::TensorProto& tensor) {
    const auto index = blob_index(tensor);
    if (!index) return;
    tensor.mutable_unknown_fields()->DeleteByNumber(wire::kBlobField);
    const Tensor& blob = written.blobs.at(*index);
    if (blob.bytes() < limit)
      tensor.set_raw_data(blob.raw(), blob.bytes());
    else
      stand_in(tensor, *index);
  });
}

}  // namespace mlopt::proto
