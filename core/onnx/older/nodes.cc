#include <numeric>

#include "core/ir/constant.h"
#include "core/onnx/older/rules.h"
#include "core/onnx/older/steps.h"

namespace mlopt::proto::older {

/// The whole shape, and a Slice of it in place of the node.
std::string shape(Node& node) {
  const int64_t start = number(node, "start", 0), end = number(node, "end", INT64_MAX);
  if (start != 0 || end != INT64_MAX) {
    Graph& graph = *node.graph();
    Node* whole = graph.add_op("Shape", {node.input(0)}, {}, &node, node.first_output()->name + "_whole");
    node.op = "Slice";
    graph.set_input(&node, 0, whole->output(0));
    give_ints(node, 1, "start", {start});
    give_ints(node, 2, "end", {end});
  }
  drop(node, "start");
  return drop(node, "end");
}

/// Older opsets normalize over all axes from the given one on: the last one alone means the same.
std::string softmax(Node& node) {
  const auto& dims = node.input(0)->type.dims;
  if (!dims) return "the rank of its input is not known";
  const auto rank = static_cast<int64_t>(dims->size());
  const auto axis = normalize_axis(number(node, "axis", -1), rank);
  node.set_attr("axis", rank - 1);
  if (axis == rank - 1) return "";
  Ints swapped(static_cast<size_t>(rank));
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[static_cast<size_t>(axis)], swapped.back());
  Graph& graph = *node.graph();
  const std::string& name = node.first_output()->name;
  const auto transposed = [&](Value* x, const std::string& what) {
    return graph.add_op("Transpose", {x}, {{"perm", swapped, ""}}, &node, name + what)->output(0);
  };
  Value* x = transposed(node.input(0), "_last");
  Node* same = graph.add_op(node.op, {x}, node.attrs, &node, name + "_swapped");
  node.op = "Transpose";
  node.attrs = {{"perm", swapped, ""}};
  graph.set_input(&node, 0, same->output(0));
  return "";
}

/// The list or number as a tensor.
std::string constant(Node& node) {
  const auto value = node.attr("value") ? std::nullopt : constant_value(node);
  if (value) node.attrs = {{"value", *value, ""}};
  return "";
}

/// Or(Greater, Equal), as the standard says it.
std::string or_equal(Node& node) {
  Graph& graph = *node.graph();
  const std::string& name = node.first_output()->name;
  const std::vector<Value*> both = node.inputs();
  const std::string strict = node.op == "GreaterOrEqual" ? "Greater" : "Less";
  graph.set_input(&node, 0, graph.add_op(strict, both, {}, &node, name + "_strict")->output(0));
  graph.set_input(&node, 1, graph.add_op("Equal", both, {}, &node, name + "_equal")->output(0));
  node.op = "Or";
  return "";
}

/// Of integers, which older opsets do not compare so.
std::string of_integers(Node& node) {
  if (is_float(node.first_output()->type.dtype)) return "";
  Graph& graph = *node.graph();
  const std::vector<Value*> values = node.inputs();
  if (values.size() != 2) return "older opsets have it for floating point only";
  const std::string compare = node.op == "Max" ? "Greater" : "Less";
  const std::string name = node.first_output()->name + "_first";
  node.op = "Where";
  graph.set_input(&node, 0, graph.add_op(compare, values, {}, &node, name)->output(0));
  graph.set_input(&node, 1, values[0]);
  graph.set_input(&node, 2, values[1]);
  return "";
}

}  // namespace mlopt::proto::older
