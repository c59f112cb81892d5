#include "core/ir/instantiate.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/ir/constant.h"

namespace mlopt {
namespace {

const Graph& outermost(const Graph& graph) {
  const Graph* found = &graph;
  while (found->owner) found = found->owner->graph();
  return *found;
}

/// One copy of a function's body in a graph, or of a branch, which reads values of the graph.
class Instance {
 public:
  Instance(Node* call, const Function& function, FreshNames& names)
      : call_(call), graph_(*call->graph()), body_(*function.body), function_(&function), names_(names) {}
  Instance(Node* call, const Graph& branch, FreshNames& names)
      : call_(call), graph_(*call->graph()), body_(branch), names_(names) {}

  std::vector<Node*> make() {
    const size_t inputs = function_ ? call_->inputs().size() : 0;
    if (inputs > body_.inputs().size() || call_->outputs().size() > body_.outputs().size())
      input_error(fmt::format("more inputs or outputs than {} has", called()), call_->label());
    for (size_t i = 0; i < body_.inputs().size(); ++i) map_[body_.inputs()[i]] = call_->input(static_cast<int>(i));
    copy_nodes(body_, graph_, call_);
    for (size_t i = 0; i < call_->outputs().size(); ++i)
      if (call_->outputs()[i]) connect(*call_->outputs()[i], body_.outputs()[i]);
    graph_.erase(call_);
    for (const auto& [value, name] : renames_) graph_.rename(value, name);
    return made_;
  }

 private:
  std::string called() const { return function_ ? fmt::format("function '{}'", function_->name) : "its branch"; }
  std::string hint(const std::string& inner) const {
    return call_->name.empty() ? inner : fmt::format("{}/{}", call_->name, inner);
  }

  /// Values without a producer (initializers) and then the nodes of `from`.
  void copy_nodes(const Graph& from, Graph& to, const Node* before) {
    for (const Value* value : from.initializers())
      if (!value->is_input) map_[value] = to.add_constant(names_.make(hint(value->name)), *value->constant);
    for (const Node* node : from.nodes()) {
      Node* copy = copy_node(*node, to, before);
      if (&to == &graph_) made_.push_back(copy);
    }
  }

  Node* copy_node(const Node& from, Graph& to, const Node* before) {
    std::vector<Value*> inputs, outputs;
    for (Value* value : from.inputs()) inputs.push_back(value ? mapped(value) : nullptr);
    for (const Value* value : from.outputs()) outputs.push_back(value ? copy_value(*value, to) : nullptr);
    std::vector<std::pair<const Graph*, Graph*>> bodies;
    std::vector<Attr> attrs;
    for (const Attr& attr : from.attrs)
      if (auto copy = copy_attr(attr, bodies)) attrs.push_back(std::move(*copy));
    Node* node = to.add_node(from.domain, from.op, std::move(inputs), std::move(outputs), std::move(attrs), before);
    node->name = from.name.empty() ? "" : names_.make_node(hint(from.name));
    node->overload = from.overload;
    node->doc = from.doc;
    node->metadata = from.metadata;
    node->unknown_fields = from.unknown_fields;
    node->origins = from.origins;
    for (const auto& [body, copy] : bodies) copy_body(*body, *copy);
    note_constant(*node);
    return node;
  }

  Value* mapped(Value* value) const {
    const auto found = map_.find(value);
    if (found != map_.end()) return found->second;
    if (function_) internal_error("a function's body reads a value from outside", value->name);
    return value;
  }

  Value* copy_value(const Value& value, Graph& to) {
    Value* copy = to.add_value(names_.make(hint(value.name)), value.type);
    map_[&value] = copy;
    return copy;
  }

  void copy_body(const Graph& from, Graph& to) {
    to.name = from.name;
    for (const Value* input : from.inputs()) {
      Value* copy = to.add_input(names_.make(hint(input->name)), input->type);
      copy->constant = input->constant;
      map_[input] = copy;
    }
    copy_nodes(from, to, nullptr);
    for (Value* output : from.outputs()) to.add_output(mapped(output));
  }

  /// Nothing where the attribute refers to one that neither the call nor the function gives.
  std::optional<Attr> copy_attr(const Attr& attr, std::vector<std::pair<const Graph*, Graph*>>& bodies) {
    if (const auto* ref = function_ ? std::get_if<RefAttr>(&attr.value) : nullptr) {
      const Attr* given = given_attr(ref->name);
      if (!given) return std::nullopt;
      Attr copy = *given;
      copy.name = attr.name;
      if (const auto* body = std::get_if<GraphPtr>(&given->value)) copy.value = GraphPtr(clone(**body));
      return copy;
    }
    Attr copy = attr;
    const auto fresh = [&](GraphPtr& body) {
      auto made = std::make_shared<Graph>();
      bodies.emplace_back(body.get(), made.get());
      kept_.push_back(body);  // the original outlives its replacement in `copy`
      body = made;
    };
    if (auto* one = std::get_if<GraphPtr>(&copy.value)) fresh(*one);
    if (auto* many = std::get_if<std::vector<GraphPtr>>(&copy.value)) std::for_each(many->begin(), many->end(), fresh);
    return copy;
  }

  const Attr* given_attr(const std::string& name) const {
    if (const Attr* attr = call_->attr(name)) return attr;
    for (const Attr& attr : function_->attribute_defaults)
      if (attr.name == name) return &attr;
    return nullptr;
  }

  /// Users of the call's output read the copy, which takes its name once the call is gone.
  void connect(Value& output, Value* inner) {
    Value* value = mapped(inner);
    if (!value) input_error(fmt::format("{} returns an input that is omitted", called()), call_->label());
    if (!inner->producer || value == inner ||
        !connected_.insert(value).second) {  // an input is passed on, or a value is given twice
      Value* copy = graph_.add_value(names_.make(hint(inner->name)));
      made_.push_back(graph_.add_node("", "Identity", {value}, {copy}, {}, call_));
      value = copy;
    }
    if (output.type.kind != Type::Kind::kUnknown) value->type = output.type;
    value->doc = output.doc;
    value->metadata = output.metadata;
    value->unknown_fields = output.unknown_fields;
    value->declared = output.declared;
    const std::string name = output.name;
    graph_.replace_uses(&output, value);
    if (value->name != name) renames_[value] = name;
  }

  Node* call_;
  Graph& graph_;
  const Graph& body_;
  const Function* function_ = nullptr;  ///< null: a branch
  FreshNames& names_;
  std::unordered_map<const Value*, Value*> map_;
  std::unordered_set<const Value*> connected_;
  std::unordered_map<Value*, std::string> renames_;
  std::vector<Node*> made_;
  std::vector<GraphPtr> kept_;
};

}  // namespace

FreshNames::FreshNames(const Graph& graph) {
  const Graph& root = outermost(graph);
  const auto add = [&](const Graph& g) {
    for (const Value* value : g.values()) values_.taken.insert(value->name);
  };
  add(root);
  for (const Node* node : all_nodes(root)) {
    nodes_.taken.insert(node->name);
    for (const Graph* body : node->bodies()) add(*body);
  }
}

std::string FreshNames::Names::make(std::string_view hint) {
  const std::string base(hint.empty() ? "value" : hint);
  std::string name = base;
  int& last = next[base];
  while (!taken.insert(name).second) name = fmt::format("{}_{}", base, ++last);
  return name;
}

std::vector<Node*> instantiate(Node* call, const Function& function, FreshNames& names) {
  return Instance(call, function, names).make();
}

std::vector<Node*> instantiate_branch(Node* node, const Graph& branch, FreshNames& names) {
  return Instance(node, branch, names).make();
}

}  // namespace mlopt
