#include "backends/cpu/prepare/prepare.h"
#include "core/base/error.h"
#include "core/ir/constant.h"

namespace mlopt::cpu {
namespace {

bool is_constant(const Node& node) {
  for (const Value* v : node.inputs())
    if (v && !v->known_constant()) return false;
  return true;
}

/// One output, that no run changes. What a body keeps is bounded, for it may repeat a small constant.
bool pays(const Node& node) {
  constexpr int64_t kMostElements = int64_t{1} << 24;
  if (node.op == "DequantizeLinear") return true;
  const Value* y = node.outputs().size() == 1 ? node.output(0) : nullptr;
  const auto dims = y ? y->type.static_dims() : std::nullopt;
  return node.graph()->owner && dims && !y->constant && y->type.is_tensor() && node.bodies().empty() &&
         !is_random(node) && element_count(*dims) <= kMostElements;
}

/// A model of this node alone, its inputs constants.
Model alone(const Model& model, const Node& node) {
  Model one;
  one.ir_version = model.ir_version;
  one.opsets = model.opsets;
  std::vector<Value*> inputs;
  for (const Value* v : node.inputs())
    inputs.push_back(v ? one.graph->add_constant(v->name, *v->known_constant()) : nullptr);
  Value* out = one.graph->add_value(node.output(0)->name, node.output(0)->type);
  one.graph->add_node(node.domain, node.op, inputs, {out}, node.attrs)->name = node.name;
  one.graph->add_output(out);
  return one;
}

/// Nothing where it fails: a branch that is never taken may not compute.
std::optional<Tensor> evaluated(const Model& one, const Evaluate& evaluate) {
  try {
    const Datum value = evaluate(one).front();
    return value.is_tensor() ? std::optional(value.tensor()) : std::nullopt;
  } catch (const Error& e) {
    if (e.code == Code::kInternal) throw;
    return std::nullopt;
  }
}

void unpack(Model& model, Graph& graph, const Evaluate& evaluate) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) unpack(model, *body, evaluate);
    if (!pays(*node) || !is_constant(*node) || !node->output(0) || node->output(0)->is_output()) continue;
    Value* stored = node->output(0);
    const auto value = evaluated(alone(model, *node), evaluate);
    if (!value) continue;
    graph.replace_uses(stored, graph.add_constant(stored->name + "_unpacked", *value));
    graph.erase(node);
  }
}

}  // namespace

void unpack_weights(Model& model, const Evaluate& evaluate) {
  unpack(model, *model.graph, evaluate);
  remove_dead(model);
}

}  // namespace mlopt::cpu
