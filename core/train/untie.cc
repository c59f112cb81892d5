#include "core/train/untie.h"

#include <algorithm>
#include <tuple>

#include "core/train/constants.h"

namespace mlopt::train {
namespace {

/// Operator, input and matrix of a layer that reads a vector.
using Role = std::tuple<std::string, int, const Value*>;

const Value* first_matrix(const Node& node) {
  const auto found = std::find_if(node.inputs().begin(), node.inputs().end(),
                                  [](const Value* v) { return v && v->is_initializer() && v->constant->rank() > 1; });
  return found == node.inputs().end() ? nullptr : *found;
}

/// Of the node, or of what makes one of its inputs, as of MatMul before Add; null: there is none.
const Value* matrix_of(const Node& node) {
  const Value* matrix = first_matrix(node);
  for (const Value* v : node.inputs())
    if (!matrix && v && v->producer) matrix = first_matrix(*v->producer);
  return matrix;
}

Role role_of(const Use& use) { return {use.node->op, use.index, matrix_of(*use.node)}; }

/// Vectors that Add and Mul read beside no layer may be settings, which stay one.
bool is_parameter(const Graph& graph, const Use& use) {
  constexpr std::string_view kLayers[] = {"Conv",
                                          "ConvTranspose",
                                          "Gemm",
                                          "BatchNormalization",
                                          "GroupNormalization",
                                          "InstanceNormalization",
                                          "LayerNormalization"};
  const Node& node = *use.node;
  if (node.graph() != &graph || !node.domain.empty()) return false;
  if (node.op == "Add" || node.op == "Mul") return matrix_of(node) != nullptr;
  return std::ranges::count(kLayers, node.op) > 0;
}

void separate_readers(Graph& graph, Value* vector, Copies& copies) {
  const auto made = copies.find(vector->name);
  const std::string source = made == copies.end() ? vector->name : made->second;
  const std::vector<Use> uses = vector->uses;
  std::vector<std::pair<Role, Value*>> own;
  for (const Use& use : uses) {
    const Role role = role_of(use);
    if (own.empty() || !is_parameter(graph, use)) {
      own.emplace_back(role, vector);
      continue;
    }
    const bool statistic = use.node->op == "BatchNormalization" && use.index > 2;
    auto found = std::ranges::find(own, role, &std::pair<Role, Value*>::first);
    if (statistic || found == own.end()) {
      found = own.insert(own.end(), {role, graph.add_constant(vector->name, *vector->constant)});
      copies.emplace(found->second->name, source);
    }
    if (found->second != vector) graph.set_input(use.node, use.index, found->second);
  }
}

void own_identities(Graph& graph) {
  for (Node* node : graph.nodes()) {
    Value *from = node->is("Identity") ? node->input(0) : nullptr, *to = node->output(0);
    if (!from || !from->is_initializer() || from->is_input || !to || to->is_output()) continue;
    replace_by_initializer(graph, node, *from->constant);
    if (from->uses.empty() && !from->is_output()) graph.erase(from);
  }
}

}  // namespace

Copies untie_weights(Model& model, Copies before) {
  Graph& graph = *model.graph;
  own_identities(graph);
  for (Value* vector : graph.initializers())
    if (!vector->opaque && is_float(vector->constant->dtype()) && vector->constant->rank() == 1)
      separate_readers(graph, vector, before);
  return before;
}

}  // namespace mlopt::train
