#include "core/rewrite/pass.h"

namespace mlopt {
namespace {

/// Without those that are omitted at the end, which runtimes take for inputs.
std::vector<Value*> trimmed(std::vector<Value*> inputs) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return inputs;
}

}  // namespace

std::string Builder::hint(std::string_view op) const {
  return before_ && before_->output(0) ? before_->output(0)->name + "_" + std::string(op) : std::string(op);
}

Value* Builder::add(Node* made, Type type) {
  Value* y = made->outputs().front();
  // Runtimes refuse a name that two nodes have: the first takes that of the root, which goes.
  if (before_ && !before_->name.empty()) made->name = named_ ? y->name : before_->name;
  named_ = true;
  y->type = std::move(type);
  return y;
}

Value* Builder::op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, Type type) {
  return add(graph.add_op(std::string(op), trimmed(std::move(inputs)), std::move(attrs), before_, hint(op)),
             std::move(type));
}

Value* Builder::contrib(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, Type type,
                        int outputs) {
  Node* made = graph.add_op(std::string(op), trimmed(std::move(inputs)), std::move(attrs), before_, hint(op), outputs,
                            "com.microsoft");
  return add(made, std::move(type));
}

Value* Builder::constant(std::string_view hint, Tensor tensor) {
  return constants_.emplace_back(graph.add_constant(std::string(hint), std::move(tensor)));
}

Value* Builder::successor(Value* old, Tensor tensor) {
  std::string name = old->name;
  if (old->single_use() && !old->is_input && old->graph == &graph) {
    graph.rename(old, graph.fresh_name(name));
    renamed_.emplace_back(old, name);
  }
  return constant(name, std::move(tensor));
}

void Builder::undo_constants() {
  for (Value* v : constants_)
    if (v->uses.empty()) graph.erase(v);
  for (const auto& [value, name] : renamed_) graph.rename(value, name);
}

}  // namespace mlopt
