#include "tests/support/infer.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/onnx/infer.h"
#include "core/onnx/io.h"

namespace mlopt::test {
namespace {

Model inferred(const std::string& inputs, const std::string& nodes, const std::string& name, int opset,
               TypeRule standard, const std::string& constants) {
  const std::string values = constants.empty() ? "" : "<" + constants + ">";
  Model model = parse_text(fmt::format("<ir_version: 10, opset_import: [\"\" : {}]> main ({}) => ({}) {} {{ {} }}",
                                       opset, inputs, name, values, nodes));
  infer(model, standard);
  return model;
}

}  // namespace

std::string types_in(const std::string& inputs, const std::string& nodes, const std::string& name, int opset,
                     TypeRule standard, const std::string& constants) {
  return to_string(inferred(inputs, nodes, name, opset, standard, constants).graph->find(name)->type);
}

std::string standard_type_in(const std::string& inputs, const std::string& nodes, const std::string& name, int opset,
                             const std::string& constants) {
  const Model model = inferred(inputs, nodes, name, opset, nullptr, constants);
  const Node& node = *model.graph->nodes().front();
  const std::vector<Type> types = standard_types(NodeView(node, opset));
  const auto at = std::find(node.outputs().begin(), node.outputs().end(), model.graph->find(name));
  return to_string(types.at(static_cast<size_t>(at - node.outputs().begin())));
}

std::string elements_in(const std::string& inputs, const std::string& nodes, const std::string& name,
                        const std::string& constants) {
  const Model model = inferred(inputs, nodes, name, 21, standard_types, constants);
  const auto& elements = model.graph->find(name)->symbolic;
  return elements ? to_string(*elements) : "-";
}

}  // namespace mlopt::test
