#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

void write_node(const Node& node, onnx::NodeProto& out, Blobs& blobs, int64_t ir_version) {
  out.ParseFromString(node.unknown_fields);
  for (const Value* value : node.inputs()) out.add_input(value ? value->name : "");
  for (const Value* value : node.outputs()) out.add_output(value ? value->name : "");
  out.set_op_type(node.op);
  if (!node.domain.empty()) out.set_domain(node.domain);
  if (!node.name.empty()) out.set_name(node.name);
  if (!node.overload.empty()) out.set_overload(node.overload);
  if (!node.doc.empty()) out.set_doc_string(node.doc);
  put_metadata(node.metadata, out.mutable_metadata_props());
  for (const Attr& attr : node.attrs) {
    write_attribute(attr, *out.add_attribute(), blobs, [&](const Graph& body, onnx::GraphProto& message) {
      write_graph(body, message, blobs, ir_version);
    });
  }
}

/// What the file said of values that are gone, or said twice, is kept only where it is not wrong by now.
template <class Infos>
void drop_stale(const Graph& graph, Infos* infos) {
  Infos kept;
  for (auto& info : *infos) {
    const Value* value = graph.find(info.name());
    if (!value || same(write_type(value->type), info.type())) kept.Add()->Swap(&info);
  }
  infos->Swap(&kept);
}

/// Types that the file stated of the values that `wanted` picks, in the order of the nodes that make them: as they
/// would be read again.
template <class Infos, class Wanted>
void write_value_infos(const Graph& graph, Infos* infos, const Wanted& wanted) {
  drop_stale(graph, infos);
  const auto write = [&](const Value* value) {
    if (value->declared && wanted(*value)) write_value_info(*value, *infos->Add());
  };
  for (const Value* value : graph.values())
    if (!value->producer) write(value);
  for (const Node* node : graph.nodes())
    for (const Value* value : node->outputs())
      if (value) write(value);
}

}  // namespace

void write_graph(const Graph& graph, onnx::GraphProto& out, Blobs& blobs, int64_t ir_version, bool sparse) {
  out.ParseFromString(graph.unknown_fields);
  if (!graph.name.empty()) out.set_name(graph.name);
  if (!graph.doc.empty()) out.set_doc_string(graph.doc);
  put_metadata(graph.metadata, out.mutable_metadata_props());
  for (const Node* node : graph.nodes()) write_node(*node, *out.add_node(), blobs, ir_version);
  for (const Value* value : graph.inputs()) write_value_info(*value, *out.add_input());
  const bool list_all = ir_version > 0 && ir_version < 4;  // then initializers must be inputs too
  for (const Value* value : graph.initializers()) {
    if (!sparse || value->is_input || !write_sparse(*value, out))
      write_initializer(*value, *out.add_initializer(), blobs);
    if (list_all && !value->is_input) write_value_info(*value, *out.add_input());
  }
  for (const Value* value : graph.outputs()) write_value_info(*value, *out.add_output());
  write_value_infos(graph, out.mutable_value_info(), [&](const Value& value) {
    return !value.is_input && !value.is_output() && !(list_all && value.is_initializer());
  });
}

void write_function(const Function& function, onnx::FunctionProto& out, Blobs& blobs, int64_t ir_version) {
  out.ParseFromString(function.unknown_fields);
  if (!function.domain.empty()) out.set_domain(function.domain);
  out.set_name(function.name);
  if (!function.overload.empty()) out.set_overload(function.overload);
  if (!function.doc.empty()) out.set_doc_string(function.doc);
  put_metadata(function.metadata, out.mutable_metadata_props());
  for (const std::string& name : function.attributes) out.add_attribute(name);
  for (const Attr& attr : function.attribute_defaults) {
    write_attribute(attr, *out.add_attribute_proto(), blobs, [&](const Graph& body, onnx::GraphProto& message) {
      write_graph(body, message, blobs, ir_version);
    });
  }
  for (const OpsetImport& import : function.opsets) {
    auto* opset = out.add_opset_import();
    opset->set_domain(import.domain);
    opset->set_version(import.version);
  }
  for (const Value* value : function.body->inputs()) out.add_input(value->name);
  for (const Value* value : function.body->outputs()) out.add_output(value->name);
  for (const Node* node : function.body->nodes()) write_node(*node, *out.add_node(), blobs, ir_version);
  write_value_infos(*function.body, out.mutable_value_info(), [](const Value&) { return true; });
}

}  // namespace mlopt::proto
