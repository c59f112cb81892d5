#include "core/ir/graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"

namespace mlopt {
namespace {

/// Where the number begins that a name got because it was taken.
size_t number_in(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  const bool ends_so = last != std::string_view::npos && last + 1 < name.size() && name[last] == '_';
  return ends_so ? last : std::string_view::npos;
}

/// "c_1" of "c_1_2_3": what is named anew again and again does not grow with each name.
std::string_view without_repeated_numbers(std::string_view name) {
  while (true) {
    const std::string_view shorter = name.substr(0, number_in(name));
    if (number_in(shorter) == std::string_view::npos) return name;
    name = shorter;
  }
}

}  // namespace

Graph::~Graph() {
  // Bodies go first: their nodes' uses point into this graph.
  nodes_.clear();
}

std::vector<Value*> Graph::values() const {
  std::vector<Value*> found;
  found.reserve(values_.size());
  for (const auto& v : values_) found.push_back(v.get());
  return found;
}

std::vector<Value*> Graph::initializers() const {
  std::vector<Value*> found;
  for (const auto& v : values_)
    if (v->is_initializer()) found.push_back(v.get());
  return found;
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> found;
  found.reserve(nodes_.size());
  for (const auto& n : nodes_) found.push_back(n.get());
  return found;
}

Node* Graph::next(const Node* node) const {
  const auto after = node ? std::next(node->place_) : nodes_.begin();
  return after == nodes_.end() ? nullptr : after->get();
}

Value* Graph::find(std::string_view value_name) const {
  const auto it = by_name_.find(std::string(value_name));
  return it == by_name_.end() ? nullptr : it->second;
}

Value* Graph::lookup(std::string_view value_name) const {
  for (const Graph* g = this; g; g = g->owner ? g->owner->graph() : nullptr)
    if (Value* v = g->find(value_name)) return v;
  return nullptr;
}

Value* Graph::add_value(std::string value_name, Type type) {
  if (by_name_.contains(value_name)) input_error("two values have one name", value_name, "rename one of them");
  values_.push_back(std::make_unique<Value>());
  Value* v = values_.back().get();
  v->place_ = std::prev(values_.end());
  v->name = std::move(value_name);
  v->type = std::move(type);
  v->graph = this;
  by_name_.emplace(v->name, v);
  return v;
}

Value* Graph::add_input(std::string value_name, Type type) {
  Value* v = add_value(std::move(value_name), std::move(type));
  v->is_input = true;
  inputs_.push_back(v);
  return v;
}

Value* Graph::add_constant(std::string value_name, Tensor tensor) {
  if (value_name.empty() || lookup(value_name) || name_taken_below(value_name))
    value_name = fresh_name(value_name.empty() ? "constant" : value_name);
  Value* v = add_value(std::move(value_name), Type::tensor(tensor.dtype(), tensor.dims()));
  v->constant = std::move(tensor);
  return v;
}

Node* Graph::add_node(std::string domain, std::string op, std::vector<Value*> inputs, std::vector<Value*> outputs,
                      std::vector<Attr> attrs, const Node* before) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->domain = domain == "ai.onnx" ? "" : std::move(domain);
  node->op = std::move(op);
  node->attrs = std::move(attrs);
  node->graph_ = this;
  node->outputs_ = std::move(outputs);
  node->place_ = nodes_.insert(before ? before->place_ : nodes_.end(), std::move(owned));
  for (size_t i = 0; i < node->outputs_.size(); ++i) {
    Value* v = node->outputs_[i];
    if (!v) continue;
    if (v->producer || v->is_input || v->graph != this) internal_error("an output has a producer already", v->name);
    v->producer = node;
    v->output_index = static_cast<int>(i);
  }
  node->inputs_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) link(node, static_cast<int>(i), inputs[i]);
  const std::vector<Graph*> bodies = node->bodies();
  for (Graph* body : bodies) body->owner = node;
  if (!bodies.empty()) with_bodies_.push_back(node);
  return node;
}

Node* Graph::add_op(std::string op, std::vector<Value*> inputs, std::vector<Attr> attrs, const Node* before,
                    const std::string& hint, int outputs, std::string domain) {
  std::vector<Value*> made;
  for (int i = 0; i < outputs; ++i) made.push_back(add_value(fresh_name(hint.empty() ? op : hint)));
  return add_node(std::move(domain), std::move(op), std::move(inputs), std::move(made), std::move(attrs), before);
}

void Graph::link(Node* node, int index, Value* value) {
  node->inputs_[static_cast<size_t>(index)] = value;
  if (value) value->uses.push_back({node, index});
}

void Graph::unlink(Node* node, int index) {
  Value*& slot = node->inputs_[static_cast<size_t>(index)];
  if (!slot) return;
  auto& uses = slot->uses;
  uses.erase(std::find(uses.begin(), uses.end(), Use{node, index}));
  slot = nullptr;
}

void Graph::add_output(Value* value) {
  outputs_.push_back(value);
  ++value->output_uses;
}

void Graph::set_output(int index, Value* value) {
  Value*& slot = outputs_[static_cast<size_t>(index)];
  --slot->output_uses;
  slot = value;
  ++value->output_uses;
}

void Graph::remove_output(int index) {
  --outputs_[static_cast<size_t>(index)]->output_uses;
  outputs_.erase(outputs_.begin() + index);
}

void Graph::remove_input(int index) {
  Value* v = inputs_[static_cast<size_t>(index)];
  inputs_.erase(inputs_.begin() + index);
  v->is_input = false;
}

void Graph::set_input(Node* node, int index, Value* value) {
  if (index >= static_cast<int>(node->inputs_.size())) node->inputs_.resize(static_cast<size_t>(index) + 1);
  unlink(node, index);
  link(node, index, value);
}

void Graph::resize_inputs(Node* node, int count) {
  for (int i = count; i < static_cast<int>(node->inputs_.size()); ++i) unlink(node, i);
  node->inputs_.resize(static_cast<size_t>(count));
}

void Graph::drop_output(Node* node, int index) {
  Value* v = node->output(index);
  if (!v) return;
  if (!v->uses.empty() || v->is_output()) internal_error("drop_output: the output is used", v->name);
  node->outputs_[static_cast<size_t>(index)] = nullptr;
  v->producer = nullptr;
  erase(v);
  while (!node->outputs_.empty() && !node->outputs_.back()) node->outputs_.pop_back();
}

void Graph::remove_input(Node* node, int index) {
  for (int i = index; i + 1 < static_cast<int>(node->inputs_.size()); ++i) set_input(node, i, node->input(i + 1));
  resize_inputs(node, static_cast<int>(node->inputs_.size()) - 1);
}

void Graph::remove_output(Node* node, int index) {
  if (index >= static_cast<int>(node->outputs_.size())) return;
  drop_output(node, index);
  if (index >= static_cast<int>(node->outputs_.size())) return;
  node->outputs_.erase(node->outputs_.begin() + index);
  for (size_t i = static_cast<size_t>(index); i < node->outputs_.size(); ++i)
    if (node->outputs_[i]) node->outputs_[i]->output_index = static_cast<int>(i);
}

void Graph::replace_uses(Value* from, Value* to) {
  if (from == to) return;
  for (const Use& use : std::exchange(from->uses, {})) link(use.node, use.index, to);
  if (!from->is_output()) return;
  const bool takes_name = to->graph == this && to->producer && !to->is_output();
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i] == from) set_output(static_cast<int>(i), to);
  if (!takes_name) return;
  std::string final_name = from->name;
  rename(from, fresh_name(from->name));
  rename(to, std::move(final_name));
  // What the file states of an output stays as it is.
  to->type = from->type;
  to->doc = from->doc;
  to->metadata = from->metadata;
  to->unknown_fields = from->unknown_fields;
}

void Graph::erase(Node* node) {
  for (Value* v : node->outputs_)
    if (v && (!v->uses.empty() || v->is_output())) internal_error("erase: an output is still used", v->name);
  const std::vector<Graph*> bodies = node->bodies();
  if (!bodies.empty()) std::erase(with_bodies_, node);
  for (Graph* body : bodies)
    for (Node* inner : all_nodes(*body))
      for (size_t i = 0; i < inner->inputs_.size(); ++i) unlink(inner, static_cast<int>(i));
  for (size_t i = 0; i < node->inputs_.size(); ++i) unlink(node, static_cast<int>(i));
  for (Value* v : node->outputs_) {
    if (!v) continue;
    v->producer = nullptr;
    erase(v);
  }
  nodes_.erase(node->place_);
}

void Graph::erase(Value* value) {
  if (!value->uses.empty() || value->is_output() || value->producer || value->is_input)
    internal_error("erase: the value is still used", value->name);
  if (value->constant) value->constant->release_pages();
  by_name_.erase(value->name);
  values_.erase(value->place_);
}

void Graph::rename(Value* value, std::string new_name) {
  if (value->name == new_name) return;
  if (by_name_.contains(new_name)) internal_error("rename: the name is taken", new_name);
  by_name_.erase(value->name);
  value->name = std::move(new_name);
  by_name_.emplace(value->name, value);
}

void Graph::move_before(Node* node, const Node* before) { nodes_.splice(before->place_, nodes_, node->place_); }

bool Graph::name_taken_below(const std::string& value_name) const {
  for (const Node* node : with_bodies_)
    for (const Graph* body : node->bodies())
      if (body->find(value_name) || body->name_taken_below(value_name)) return true;
  return false;
}

std::string Graph::fresh_name(std::string_view hint) const {
  std::string candidate(hint.empty() ? "value" : hint);
  const auto taken = [&] { return lookup(candidate) || name_taken_below(candidate); };
  if (!taken()) return candidate;
  const std::string base(without_repeated_numbers(candidate));
  int& next = fresh_[base];
  do candidate = fmt::format("{}_{}", base, ++next);
  while (taken());
  return candidate;
}

}  // namespace mlopt
