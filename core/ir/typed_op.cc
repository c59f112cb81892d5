#include "core/ir/typed_op.h"

namespace mlopt {
namespace {

std::string attr_of(size_t output) { return "type" + std::to_string(output); }

}  // namespace

std::vector<Value*> add_typed_op(Graph& graph, std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs,
                                 const std::vector<Type>& types, const std::string& hint) {
  std::vector<Value*> outputs;
  for (size_t i = 0; i < types.size(); ++i) {
    outputs.push_back(graph.add_value(graph.fresh_name(hint), types[i]));
    attrs.push_back({attr_of(i), types[i], {}});
  }
  graph.add_node("mlopt", std::string(op), std::move(inputs), outputs, std::move(attrs));
  return outputs;
}

std::vector<Type> kept_types(const Node& node) {
  std::vector<Type> types;
  for (size_t i = 0; i < node.outputs().size(); ++i)
    if (const Attr* attr = node.attr(attr_of(i)))
      if (const auto* type = std::get_if<Type>(&attr->value)) types.push_back(*type);
  return types;
}

}  // namespace mlopt
