#include "core/onnx/older/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/ir/constant.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::proto::older {
namespace {

/// With what only it was made of. A value is seen when it loses its last reader, and so once.
void erase_unread(Value* value) {
  std::vector<Value*> unread;
  const auto see = [&](Value* v) {
    if (v && v->uses.empty() && !v->is_output() && !v->is_input) unread.push_back(v);
  };
  see(value);
  while (!unread.empty()) {
    Value* v = unread.back();
    unread.pop_back();
    Node* node = v->producer;
    if (!node && v->constant) v->graph->erase(v);
    if (!node || node->outputs().size() > 1 || !node->bodies().empty()) continue;
    const std::set<Value*> inputs(node->inputs().begin(), node->inputs().end());
    node->graph()->erase(node);
    for (Value* input : inputs) see(input);
  }
}

}  // namespace

std::string lacks(std::string_view attr) { return fmt::format("older opsets lack its attribute '{}'", attr); }

std::string drop(Node& node, std::string_view attr) {
  node.remove_attr(attr);
  return "";
}

std::string drop_ones(Node& node, std::string_view attr) {
  const Attr* found = node.attr(attr);
  const Ints* numbers = found ? std::get_if<Ints>(&found->value) : nullptr;
  if (found && !numbers) return lacks(attr);
  if (numbers && std::any_of(numbers->begin(), numbers->end(), [](int64_t n) { return n != 1; })) return lacks(attr);
  return drop(node, attr);
}

std::string refuse(const Node& node, std::string_view attr, std::initializer_list<std::string_view> values) {
  const Attr* found = node.attr(attr);
  const auto* text = found ? std::get_if<std::string>(&found->value) : nullptr;
  if (!text || std::find(values.begin(), values.end(), *text) == values.end()) return "";
  return fmt::format("older opsets do not know {} '{}'", attr, *text);
}

int64_t number(const Node& node, std::string_view attr, int64_t otherwise) {
  return NodeView(node, 0).get_int(attr, otherwise);
}

std::optional<Ints> numbers(const Node& node, int input) {
  const Value* value = node.input(input);
  if (!value) return std::nullopt;
  const auto known = constant_or_known(*value);
  return known ? std::optional(to_ints(*known)) : std::nullopt;
}

void drop_input(Node& node, int input) {
  Value* value = node.input(input);
  if (!value) return;
  node.graph()->set_input(&node, input, nullptr);
  node.graph()->resize_inputs(&node, input);
  erase_unread(value);
}

void give_ints(Node& node, int input, const std::string& what, const Ints& values) {
  Value* old = node.input(input);
  const std::string name = node.first_output()->name + "_" + what;
  node.graph()->set_input(&node, input, node.graph()->add_constant(name, Tensor::ints(values)));
  erase_unread(old);
}

}  // namespace mlopt::proto::older
