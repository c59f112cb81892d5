#include "core/train/constants.h"

#include <algorithm>

namespace mlopt::train {
namespace {

bool is_matrix(const Tensor& tensor) { return is_float(tensor.dtype()) && tensor.rank() > 1 && tensor.size() > 1; }

/// A constant, or what a node makes of constants alone, as DequantizeLinear does.
bool is_weight(const Value* value) {
  if (!value || value->constant) return value && value->constant->rank() > 1;
  const Node* maker = value->producer;
  return maker && !maker->inputs().empty() &&
         std::ranges::all_of(maker->inputs(), [](const Value* v) { return !v || v->constant; });
}

/// Those of `body`, the graph itself or a branch in it, become initializers of `graph`: all, or what layers read.
void hoist(Graph& graph, const Graph& body, bool all) {
  for (Node* node : body.nodes()) {
    if (node->is("If"))
      for (const Graph* branch : node->bodies()) hoist(graph, *branch, all);
    const Value* value = node->is("Constant") ? node->output(0) : nullptr;
    if (!value || !value->constant || value->is_output() || !is_float(value->constant->dtype())) continue;
    if (!all && !std::ranges::any_of(value->uses, is_of_layer)) continue;
    replace_by_initializer(graph, node, *value->constant);
  }
}

}  // namespace

bool is_of_layer(const Use& use) {
  constexpr std::string_view kLayers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "PRelu", "GRU", "LSTM", "RNN"};
  constexpr std::string_view kRecurrent[] = {"GRU", "LSTM", "RNN"};
  const Node& node = *use.node;
  if (node.op == "MatMul") return true;
  if (std::ranges::count(kRecurrent, node.op) > 0) return (use.index > 0 && use.index < 4) || use.index == 7;
  if (std::ranges::count(kLayers, node.op) > 0 || node.op.ends_with("Normalization")) return use.index > 0;
  const Value* other = node.op == "Add" ? node.input(1 - use.index) : nullptr;
  return other && other->producer && std::ranges::count(kLayers, other->producer->op) > 0 &&
         std::ranges::any_of(other->producer->inputs(), is_weight);
}

void replace_by_initializer(Graph& graph, Node* node, const Tensor& value) {
  Value* made = node->output(0);
  const std::string name = made->name;
  Value* own = graph.add_constant(name, value);
  graph.replace_uses(made, own);
  node->graph()->erase(node);
  graph.rename(own, graph.fresh_name(name));  // a branch may use a name that another has
}

void constants_to_initializers(Model& model) {
  Graph& graph = *model.graph;
  const std::vector<Value*> weights = graph.initializers();
  hoist(graph, graph,
        std::ranges::none_of(weights, [](const Value* v) { return !v->opaque && is_matrix(*v->constant); }));
}

}  // namespace mlopt::train
