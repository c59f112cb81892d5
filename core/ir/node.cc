#include <fmt/core.h>

#include <algorithm>

#include "core/ir/graph.h"

namespace mlopt {

const Attr* Node::attr(std::string_view attr_name) const {
  for (const Attr& a : attrs)
    if (a.name == attr_name) return &a;
  return nullptr;
}

void Node::set_attr(std::string_view attr_name, AttrValue value) {
  for (Attr& a : attrs)
    if (a.name == attr_name) {
      a.value = std::move(value);
      return;
    }
  attrs.push_back({std::string(attr_name), std::move(value), {}});
}

void Node::remove_attr(std::string_view attr_name) {
  std::erase_if(attrs, [&](const Attr& a) { return a.name == attr_name; });
}

std::vector<Graph*> Node::bodies() const {
  std::vector<Graph*> found;
  for (const Attr& a : attrs) {
    if (const auto* one = std::get_if<GraphPtr>(&a.value)) found.push_back(one->get());
    if (const auto* many = std::get_if<std::vector<GraphPtr>>(&a.value))
      for (const GraphPtr& g : *many) found.push_back(g.get());
  }
  return found;
}

std::string Node::label() const {
  std::string kind = domain.empty() ? op : domain + "." + op;
  if (!name.empty()) return fmt::format("{} '{}'", kind, name);
  if (const Value* first = first_output()) return fmt::format("{} giving '{}'", kind, first->name);
  return kind;
}

Value* Node::first_output() const {
  const auto it = std::find_if(outputs_.begin(), outputs_.end(), [](const Value* v) { return v != nullptr; });
  return it == outputs_.end() ? nullptr : *it;
}

std::vector<Node*> all_nodes(const Graph& graph) {
  std::vector<Node*> found;
  for (Node* node : graph.nodes()) {
    found.push_back(node);
    for (const Graph* body : node->bodies()) {
      const auto inner = all_nodes(*body);
      found.insert(found.end(), inner.begin(), inner.end());
    }
  }
  return found;
}

std::vector<Value*> captures(const Graph& body) {
  std::vector<Value*> found;
  const auto inside = [&](const Graph* g) {
    for (; g; g = g->owner ? g->owner->graph() : nullptr)
      if (g == &body) return true;
    return false;
  };
  const auto see = [&](Value* v) {
    if (v && !inside(v->graph) && std::find(found.begin(), found.end(), v) == found.end()) found.push_back(v);
  };
  for (const Node* node : all_nodes(body))
    for (Value* v : node->inputs()) see(v);
  const auto see_outputs = [&](const Graph& g) {
    for (Value* v : g.outputs()) see(v);
  };
  see_outputs(body);
  for (const Node* node : all_nodes(body))
    for (const Graph* inner : node->bodies()) see_outputs(*inner);
  return found;
}

}  // namespace mlopt
