#include "core/rewrite/pass.h"
#include "core/rewrite/rule_walk.h"

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

Builder Builder::at(const Node* before) const {
  Builder other{model_, graph, before, target};
  other.made_ = made_;
  return other;
}

Node* Builder::node(std::string op, std::vector<Value*> inputs, std::vector<Attr> attrs, const std::string& hint,
                    int outputs, std::string domain) {
  return made_->nodes.emplace_back(graph.add_op(std::move(op), trimmed(std::move(inputs)), std::move(attrs), before_,
                                                hint, outputs, std::move(domain)));
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
  return add(node(std::string(op), std::move(inputs), std::move(attrs), hint(op), 1), std::move(type));
}

Value* Builder::contrib(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, Type type,
                        int outputs) {
  return add(node(std::string(op), std::move(inputs), std::move(attrs), hint(op), outputs, "com.microsoft"),
             std::move(type));
}

Value* Builder::constant(std::string_view hint, Tensor tensor) {
  return made_->constants.emplace_back(graph.add_constant(std::string(hint), std::move(tensor)));
}

Value* Builder::successor(Value* old, Tensor tensor) {
  std::string name = old->name;
  if (old->single_use() && !old->is_input && old->graph == &graph) {
    graph.rename(old, graph.fresh_name(name));
    made_->renamed.emplace_back(old, name);
  }
  return constant(name, std::move(tensor));
}

void Builder::replace(Value* old, Value* made) { made_->replaced.emplace_back(old, made); }

void Builder::settle() {
  for (const auto& [old, made] : made_->replaced) graph.replace_uses(old, made);
}

void Builder::undo() {
  for (auto node = made_->nodes.rbegin(); node != made_->nodes.rend(); ++node)
    if (has_no_effect(**node)) (*node)->graph()->erase(*node);
  for (Value* v : made_->constants)
    if (v->uses.empty()) graph.erase(v);
  for (const auto& [value, name] : made_->renamed) graph.rename(value, name);
}

}  // namespace mlopt
