#include <fmt/core.h>

#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/ir/constant.h"
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

template <class Message>
using Repeated = google::protobuf::RepeatedPtrField<Message>;

/// Reads one graph or function body; bodies of its nodes are read by readers of their own that look outwards.
class GraphReader {
 public:
  GraphReader(Graph& graph, Source& source, int64_t ir_version, GraphReader* outer)
      : graph_(graph), source_(source), ir_version_(ir_version), outer_(outer) {}

  void read(onnx::GraphProto& message) {
    graph_.name = take(message, &onnx::GraphProto::name, &onnx::GraphProto::clear_name);
    graph_.doc = take(message, &onnx::GraphProto::doc_string, &onnx::GraphProto::clear_doc_string);
    graph_.metadata = take_metadata(message.mutable_metadata_props());
    read_inputs(message);
    read_sparse(message);
    read_nodes(message.mutable_node());
    read_outputs(message.mutable_output());
    read_value_infos(message.mutable_value_info(), false);
    put_in_order();
    make_dense(*message.mutable_sparse_initializer());
    graph_.unknown_fields = message.SerializeAsString();
  }

  void read_body(onnx::FunctionProto& message) {
    for (const std::string& name : message.input()) graph_.add_input(new_name(name, "input"), {});
    read_nodes(message.mutable_node());
    for (const std::string& name : message.output()) graph_.add_output(output(name));
    read_value_infos(message.mutable_value_info(), true);
    put_in_order();
    message.clear_input();
    message.clear_output();
  }

 private:
  void put_in_order() {
    if (out_of_order_.empty()) return;
    graph_.sort();
    source_.mended.push_back("the nodes are not in order: " + out_of_order_);
  }

  std::string where() const { return graph_.name.empty() ? source_.path : source_.where("graph", graph_.name); }

  /// `name` if nothing in this graph has it yet.
  const std::string& new_name(const std::string& name, std::string_view what) const {
    if (name.empty()) input_error(fmt::format("an {} without a name", what), where());
    if (graph_.find(name)) input_error(fmt::format("two values have the same name, '{}'", name), where());
    return name;
  }

  void read_inputs(onnx::GraphProto& message) {
    std::unordered_map<std::string, onnx::ValueInfoProto*> formal;
    std::unordered_set<std::string> initialized;
    if (ir_version_ > 0 && ir_version_ < 4)
      for (const auto& tensor : message.initializer()) initialized.insert(tensor.name());
    for (auto& info : *message.mutable_input()) {
      // Before IR version 4 every initializer had to be listed as an input too: not a value that a caller gives.
      if (initialized.count(info.name())) {
        if (!formal.emplace(info.name(), &info).second) new_name("", "input listed twice");
        continue;
      }
      read_value_info(info, *graph_.add_input(new_name(info.name(), "input"), {}));
    }
    for (auto& tensor : *message.mutable_initializer()) {
      Value* value = read_initializer(tensor);
      const auto info = formal.find(value->name);
      if (info != formal.end()) read_value_info(*info->second, *value);
    }
    message.clear_input();
    message.clear_initializer();
  }

  Value* read_initializer(onnx::TensorProto& tensor) {
    Tensor data = read_tensor(tensor, source_);
    Value* value = graph_.find(tensor.name());
    if (value && value->is_input && !value->constant)
      value->constant = std::move(data);
    else
      value = graph_.add_constant(new_name(tensor.name(), "initializer"), std::move(data));
    keep_residue(tensor, *value);
    return value;
  }

  /// Sparse initializers stay in the residue; only that their names are defined is known.
  void read_sparse(const onnx::GraphProto& message) {
    for (const auto& sparse : message.sparse_initializer()) {
      Type type;
      type.kind = Type::Kind::kSparseTensor;
      graph_.add_value(new_name(sparse.values().name(), "sparse initializer"), type)->opaque = true;
    }
  }

  /// Sparse initializers that nodes read and that are sound become ordinary constants.
  void make_dense(Repeated<onnx::SparseTensorProto>& all) {
    Repeated<onnx::SparseTensorProto> rest;
    for (auto& sparse : all) {
      Value* value = graph_.find(sparse.values().name());
      std::optional<Tensor> constant;
      try {
        if (!value->uses.empty()) constant = dense(sparse, source_, source_.where("tensor", value->name));
      } catch (const Error&) {  // what cannot be understood is kept, and refused where it would be run
      }
      if (!constant) {
        rest.Add()->Swap(&sparse);
        continue;
      }
      value->opaque = false;
      value->type = Type::tensor(constant->dtype(), constant->dims());
      value->constant = std::move(constant);
    }
    all.Swap(&rest);
  }

  void read_nodes(Repeated<onnx::NodeProto>* nodes) {
    for (const auto& node : *nodes)
      for (const std::string& name : node.output())
        if (!name.empty()) graph_.add_value(new_name(name, "output"));
    for (auto& node : *nodes) read_node(node);
    nodes->Clear();
  }

  void read_node(onnx::NodeProto& message) {
    const std::string label = source_.where(message.op_type(), message.name());
    if (message.op_type().empty()) input_error("a node without an operator", label);
    std::vector<Value*> inputs, outputs;
    for (const std::string& name : message.input()) inputs.push_back(name.empty() ? nullptr : input(name, label));
    for (const std::string& name : message.output()) outputs.push_back(name.empty() ? nullptr : graph_.find(name));
    std::vector<Attr> attrs;
    std::unordered_set<std::string> names;
    for (auto& attribute : *message.mutable_attribute()) {
      attrs.push_back(
          read_attribute(attribute, source_, label, [this](onnx::GraphProto& body) { return nested(body); }));
      if (!names.insert(attrs.back().name).second)
        input_error(fmt::format("attribute '{}' is given twice", attrs.back().name), label);
    }
    message.clear_input();
    message.clear_output();
    message.clear_attribute();
    const bool standard = message.domain() == "ai.onnx";  // stays in the residue
    const std::string domain = standard ? "" : take(message, &onnx::NodeProto::domain, &onnx::NodeProto::clear_domain);
    Node* node = graph_.add_node(domain, message.op_type(), std::move(inputs), std::move(outputs), std::move(attrs));
    message.clear_op_type();
    node->name = take(message, &onnx::NodeProto::name, &onnx::NodeProto::clear_name);
    node->overload = take(message, &onnx::NodeProto::overload, &onnx::NodeProto::clear_overload);
    node->doc = take(message, &onnx::NodeProto::doc_string, &onnx::NodeProto::clear_doc_string);
    node->metadata = take_metadata(message.mutable_metadata_props());
    node->unknown_fields = message.SerializeAsString();
    note_constant(*node);
    note_sparse_constant(*node, source_);
  }

  GraphPtr nested(onnx::GraphProto& message) {
    auto body = std::make_shared<Graph>();
    GraphReader(*body, source_, ir_version_, this).read(message);
    return body;
  }

  Value* input(const std::string& name, const std::string& label) {
    if (Value* value = resolve(name)) return value;
    input_error(fmt::format("input '{}' is defined nowhere", name), label);
  }

  /// The value that `name` means here: this graph's, else an enclosing one's.
  Value* resolve(const std::string& name) {
    Value* value = graph_.find(name);
    if (!value) return outer_ ? outer_->resolve(name) : nullptr;
    if (!value->producer && !value->is_input && !value->constant && !value->opaque && out_of_order_.empty())
      out_of_order_ = fmt::format("'{}' is read before it is made", name);
    return value;
  }

  /// What the graph gives as output `name`; an enclosing graph's value passes through an Identity.
  Value* output(const std::string& name) {
    if (Value* own = graph_.find(name)) return own;
    Value* value = input(name, where());
    std::string passed = name + "_passed";
    while (resolve(passed)) passed += "_";
    source_.mended.push_back(fmt::format("output '{}' of a body is a value of the graph around it", name));
    graph_.add_node("", "Identity", {value}, {graph_.add_value(passed, value->type)});
    return graph_.find(passed);
  }

  void read_outputs(Repeated<onnx::ValueInfoProto>* outputs) {
    for (auto& info : *outputs) {
      if (info.name().empty()) input_error("an output without a name", where());
      Value* value = output(info.name());
      graph_.add_output(value);
      if (!value->is_input && value->output_uses == 1) read_value_info(info, *value);
    }
    outputs->Clear();
  }

  /// Types of inner values, in a function also of its inputs and outputs; what is said of unknown names stays in the
  /// residue.
  void read_value_infos(Repeated<onnx::ValueInfoProto>* infos, bool formal) {
    Repeated<onnx::ValueInfoProto> rest;
    for (auto& info : *infos) {
      Value* value = graph_.find(info.name());
      if (value && !value->declared && (formal || (!value->is_input && !value->is_output())))
        read_value_info(info, *value);
      else
        rest.Add()->Swap(&info);
    }
    infos->Swap(&rest);
  }

  Graph& graph_;
  Source& source_;
  int64_t ir_version_;
  GraphReader* outer_;
  std::string out_of_order_;  // the first value that is read before it is made
};

}  // namespace

void read_graph(onnx::GraphProto& message, Graph& graph, Source& source, int64_t ir_version) {
  GraphReader(graph, source, ir_version, nullptr).read(message);
}

Function read_function(onnx::FunctionProto& message, Source& source, int64_t ir_version) {
  using onnx::FunctionProto;
  Function function;
  function.domain = take(message, &FunctionProto::domain, &FunctionProto::clear_domain);
  function.name = take(message, &FunctionProto::name, &FunctionProto::clear_name);
  function.overload = take(message, &FunctionProto::overload, &FunctionProto::clear_overload);
  function.doc = take(message, &FunctionProto::doc_string, &FunctionProto::clear_doc_string);
  function.metadata = take_metadata(message.mutable_metadata_props());
  const std::string where = source.where("function", function.name);
  if (function.name.empty()) input_error("a function without a name", where);
  function.attributes.assign(message.attribute().begin(), message.attribute().end());
  message.clear_attribute();
  for (auto& attribute : *message.mutable_attribute_proto())
    function.attribute_defaults.push_back(read_attribute(attribute, source, where, [&](onnx::GraphProto& body) {
      auto graph = std::make_shared<Graph>();
      read_graph(body, *graph, source, ir_version);
      return graph;
    }));
  message.clear_attribute_proto();
  for (const auto& opset : message.opset_import()) function.opsets.push_back({opset.domain(), opset.version()});
  message.clear_opset_import();
  function.body = std::make_shared<Graph>();
  function.body->name = function.name;
  GraphReader(*function.body, source, ir_version, nullptr).read_body(message);
  function.unknown_fields = message.SerializeAsString();
  return function;
}

}  // namespace mlopt::proto
