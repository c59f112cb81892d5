#include "prune/structure/propagate.h"

#include <algorithm>

#include "prune/structure/rules.h"

namespace mlopt::prune {
namespace {

/// Values that no input changes: constants and what is computed of them alone.
std::unordered_set<const Value*> fixed_values(const Model& model) {
  std::unordered_set<const Value*> fixed;
  const auto is_fixed = [&](const Value* v) { return !v || v->known_constant() || fixed.contains(v); };
  for (const Node* node : all_nodes(*model.graph)) {
    const auto& inputs = node->inputs();
    for (const Value* v : inputs)
      if (v && v->known_constant()) fixed.insert(v);
    if (inputs.empty() || !node->bodies().empty() || !std::all_of(inputs.begin(), inputs.end(), is_fixed)) continue;
    for (const Value* v : node->outputs())
      if (v) fixed.insert(v);
  }
  return fixed;
}

void pin(Atoms& atoms, const Value& v, const std::string& why) {
  if (!v.type.dims) return;
  for (size_t a = 0; a < v.type.dims->size(); ++a)
    if (const auto axis = atoms.axis(v, static_cast<int64_t>(a), nullptr)) atoms.pin_all(*axis, why);
}

void pin_interface(Atoms& atoms, const Graph& graph) {
  const std::string of = graph.owner ? " of " + graph.owner->label() : std::string(" of the model");
  for (const Value* v : graph.inputs()) pin(atoms, *v, "'" + v->name + "' is an input" + of);
  for (const Value* v : graph.outputs()) pin(atoms, *v, "'" + v->name + "' is an output" + of);
  for (const Node* node : graph.nodes())
    for (const Graph* body : node->bodies()) pin_interface(atoms, *body);
}

/// Constants that are not sliced: several numbers in a byte, texts, sparse ones.
bool sliceable(const Value& v) {
  if (v.opaque) return false;
  return !v.constant || (!is_sub_byte(v.constant->dtype()) && v.constant->dtype() != DType::kString);
}

void relate(Relations& all, const Model& model, const Node& node) {
  Ties ties(all, NodeView(node, model.opset(node.domain)));
  bool known = true;
  for (const auto* values : {&node.inputs(), &node.outputs()})
    for (const Value* v : *values) {
      known = known && (!v || (v->type.is_tensor() && v->type.dims));
      if (v && !sliceable(*v)) ties.pin_all(v, "'" + v->name + "' is stored in a form that is not cut");
    }
  const AxisRule* rule = rule_of(node);
  if (!rule) return ties.pin_node("how its axes hang together is not known");
  if (!known || !node.output(0)) {
    if (known && node.first_output()) return rule->tie(ties);  // an LSTM may give its last state only
    return ties.pin_node("the rank of what it reads or makes is not known");
  }
  rule->tie(ties);
}

}  // namespace

Relations relate_axes(const Model& model, SplitBy split, Statistics statistics) {
  Relations all;
  all.split = split;
  all.statistics = statistics;
  all.fixed = fixed_values(model);
  pin_interface(all.atoms, *model.graph);
  for (const Node* node : all_nodes(*model.graph)) relate(all, model, *node);
  settle_regroupings(all, split);
  return all;
}

}  // namespace mlopt::prune
