#include "core/train/batch_norm.h"

namespace mlopt::train {
namespace {

bool keeps_statistics(const Node& node) {
  const auto is_weight = [&](int i) { return node.input(i) && node.input(i)->is_initializer(); };
  return node.is("BatchNormalization") && is_weight(3) && is_weight(4);
}

}  // namespace

Value* move_to_state(Graph& graph, Value* initializer, StateStore& state) {
  const std::string name = initializer->name;
  state.add(name, *initializer->constant);
  Value* input = graph.add_input(graph.fresh_name(name),
                                 Type::tensor(initializer->constant->dtype(), initializer->constant->dims()));
  graph.replace_uses(initializer, input);
  graph.erase(initializer);
  graph.rename(input, name);
  return input;
}

void update_state(Graph& graph, const std::string& name, Value* value, std::vector<StateUpdate>& updates) {
  if (!value->producer || value->is_output()) {
    const Type type = value->type;
    value = graph.add_op("Identity", {value}, {}, nullptr, name + "/next")->output(0);
    value->type = type;
  }
  graph.add_output(value);
  updates.push_back({name, value->name});
}

std::vector<std::string> train_batch_norm(Model& model, StateStore& state, std::vector<StateUpdate>& updates,
                                          TypeRule types) {
  Graph& graph = *model.graph;
  std::vector<std::string> names;
  for (Node* node : graph.nodes()) {
    if (!keeps_statistics(*node)) continue;
    std::vector<Value*> inputs = node->inputs();
    for (int i : {3, 4})
      inputs[static_cast<size_t>(i)] =
          state.has(node->input(i)->name) ? node->input(i) : move_to_state(graph, node->input(i), state);
    Node* trained = graph.add_op("BatchNormalization", inputs, node->attrs, node, node->called(), 3);
    trained->name = node->name;
    trained->set_attr("training_mode", int64_t{1});
    infer(model, *trained, types);
    for (const int i : {1, 2}) {
      const std::string& name = inputs[static_cast<size_t>(i) + 2]->name;
      trained->output(i)->type = inputs[static_cast<size_t>(i) + 2]->type;
      update_state(graph, name, trained->output(i), updates);
      names.push_back(name);
    }
    const std::string made = node->output(0)->name;
    graph.replace_uses(node->output(0), trained->output(0));
    graph.erase(node);
    if (trained->output(0)->name != made) graph.rename(trained->output(0), made);
  }
  return names;
}

}  // namespace mlopt::train
