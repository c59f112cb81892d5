#include "backends/cpu/prepare/prepare.h"
#include "core/base/error.h"

namespace mlopt::cpu {
namespace {

bool is_constant(const Node& node) {
  for (const Value* v : node.inputs())
    if (v && !v->known_constant()) return false;
  return true;
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

void unpack(Model& model, Graph& graph, const Evaluate& evaluate) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) unpack(model, *body, evaluate);
    if (node->op != "DequantizeLinear" || !is_constant(*node) || node->output(0)->is_output()) continue;
    Value* stored = node->output(0);
    const Datum value = evaluate(alone(model, *node)).front();
    graph.replace_uses(stored, graph.add_constant(stored->name + "_unpacked", value.tensor()));
    graph.erase(node);
  }
}

}  // namespace

void unpack_weights(Model& model, const Evaluate& evaluate) {
  unpack(model, *model.graph, evaluate);
  remove_dead(model);
}

}  // namespace mlopt::cpu
