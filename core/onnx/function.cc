#include <set>

#include "core/base/error.h"
#include "core/onnx/node.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

std::optional<onnx::FunctionProto> body_of(const onnx::OpSchema& schema, const NodeView& view) {
  const int opset = static_cast<int>(view.opset());
  if (const onnx::FunctionProto* body = schema.GetFunction(opset)) return *body;
  if (!schema.HasContextDependentFunction()) return std::nullopt;
  std::vector<onnx::TypeProto> types;
  for (const Value* value : view.node().inputs())
    types.push_back(value ? proto::known_type(*value).value_or(onnx::TypeProto()) : onnx::TypeProto());
  const auto message = proto::whole_message(view.node());  // the context points into it
  if (!message) return std::nullopt;
  const onnx::FunctionBodyBuildContextImpl context(*message, types);
  onnx::FunctionProto built;
  if (!schema.BuildContextDependentFunction(context, built, opset)) return std::nullopt;
  return built;
}

/// The defaults of the operator's attributes, which the body refers to.
void add_defaults(const onnx::OpSchema& schema, onnx::FunctionProto& body) {
  body.clear_attribute();
  body.clear_attribute_proto();
  for (const auto& [name, attribute] : schema.attributes()) {
    if (attribute.default_value.has_type())
      *body.add_attribute_proto() = attribute.default_value;
    else
      body.add_attribute(name);
  }
}

/// Builders leave out what the node does not ask for, but go on naming it as an output.
void complete_outputs(const Node& node, onnx::FunctionProto& body) {
  std::set<std::string> made(body.input().begin(), body.input().end());
  for (const auto& inner : body.node()) made.insert(inner.output().begin(), inner.output().end());
  while (body.output_size() > static_cast<int>(node.outputs().size())) body.mutable_output()->RemoveLast();
  for (const std::string& name : body.output()) {
    if (made.contains(name) || body.input_size() == 0) continue;
    auto* unused = body.add_node();
    unused->set_op_type("Identity");
    unused->add_input(body.input(0));
    unused->add_output(name);
  }
}

}  // namespace

std::optional<Function> standard_function(const NodeView& view) {
  const onnx::OpSchema* schema = proto::schema_of(view);
  if (!schema) return std::nullopt;
  try {
    std::optional<onnx::FunctionProto> body = body_of(*schema, view);
    if (!body) return std::nullopt;
    add_defaults(*schema, *body);
    complete_outputs(view.node(), *body);
    body->set_domain(view.node().domain);
    proto::Source source;
    return proto::read_function(*body, source, newest_ir_version());
  } catch (const std::exception&) {
    return std::nullopt;  // the standard's builders throw where attributes or types are not what they expect
  }
}

}  // namespace mlopt
