#include "core/ir/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"

namespace mlopt {
namespace {

/// Walks a graph in schedule order as a runtime would, and compares the bookkeeping with what it saw.
class Verifier {
 public:
  explicit Verifier(std::vector<std::string>& findings) : findings_(findings) {}

  void check(const Graph& graph) {
    check_values(graph);
    for (const Node* node : graph.nodes()) {
      check_node(*node, graph);
      for (const Value* value : node->outputs()) define(value);
    }
    check_outputs(graph);
  }

  /// After the outermost graph: the uses that values claim are those that were met on the walk.
  void check_uses() {
    const auto sorted = [](std::vector<Use> uses) {
      std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
        return a.node != b.node ? std::less<>()(a.node, b.node) : a.index < b.index;
      });
      return uses;
    };
    for (const Value* value : all_)
      if (sorted(value->uses) != sorted(used_[value]))
        report(fmt::format("'{}' does not know by what it is read", value->name));
  }

 private:
  void report(std::string finding) { findings_.push_back(std::move(finding)); }
  void define(const Value* value) {
    if (value) defined_.insert(value);
  }

  void check_values(const Graph& graph) {
    std::unordered_set<std::string_view> names;
    const std::unordered_set<const Value*> inputs(graph.inputs().begin(), graph.inputs().end());
    for (const Value* value : graph.values()) {
      all_.push_back(value);
      if (value->name.empty()) report("a value has no name");
      if (!names.insert(value->name).second) report(fmt::format("two values are named '{}'", value->name));
      if (graph.find(value->name) != value || value->graph != &graph)
        report(fmt::format("'{}' is not known by its name", value->name));
      if (inputs.contains(value) != value->is_input)
        report(fmt::format("'{}' is marked wrongly as an input or not", value->name));
      if (value->is_input && value->producer)
        report(fmt::format("input '{}' is the output of a node too", value->name));
      if (value->is_input || value->is_initializer() || value->opaque) define(value);
    }
  }

  void check_node(const Node& node, const Graph& graph) {
    if (node.op.empty()) report(node.label() + ": no operator");
    if (node.graph() != &graph) report(node.label() + ": does not know its graph");
    const auto& inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) check_input(node, graph, static_cast<int>(i), *inputs[i]);
    const auto& outputs = node.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      if (outputs[i]->producer != &node || outputs[i]->output_index != static_cast<int>(i))
        report(fmt::format("{}: output '{}' says that something else makes it", node.label(), outputs[i]->name));
    }
    for (const Graph* body : node.bodies()) {
      if (body->owner != &node) report(node.label() + ": a body does not know its node");
      check(*body);
    }
  }

  void check_input(const Node& node, const Graph& graph, int index, const Value& value) {
    used_[&value].push_back({const_cast<Node*>(&node), index});
    if (!defined_.contains(&value))
      report(fmt::format("{}: input '{}' is read before it is defined", node.label(), value.name));
    if (graph.lookup(value.name) != &value)
      report(fmt::format("{}: '{}' means another value in this body", node.label(), value.name));
  }

  void check_outputs(const Graph& graph) {
    std::unordered_map<const Value*, int> listed;
    for (const Value* value : graph.outputs()) {
      ++listed[value];
      if (value->graph != &graph) report(fmt::format("output '{}' is a value of another graph", value->name));
      if (!defined_.contains(value)) report(fmt::format("output '{}' is made by nothing", value->name));
    }
    for (const Value* value : graph.values())
      if (listed[value] != value->output_uses)
        report(fmt::format("'{}' is an output {} times and says {}", value->name, listed[value], value->output_uses));
  }

  std::vector<std::string>& findings_;
  std::unordered_set<const Value*> defined_;
  std::unordered_map<const Value*, std::vector<Use>> used_;
  std::vector<const Value*> all_;
};

bool imported(const std::vector<OpsetImport>& opsets, const std::string& domain) {
  return std::any_of(opsets.begin(), opsets.end(), [&](const OpsetImport& import) {
    return (import.domain == "ai.onnx" ? "" : import.domain) == domain;
  });
}

void check_graph(const Graph& graph, const std::vector<OpsetImport>& opsets, std::vector<std::string>& findings) {
  Verifier verifier(findings);
  verifier.check(graph);
  verifier.check_uses();
  std::unordered_set<std::string> missing;
  for (const Node* node : all_nodes(graph))
    if (node->domain != "mlopt" && !imported(opsets, node->domain) && missing.insert(node->domain).second)
      findings.push_back(fmt::format("{}: its domain '{}' is not imported", node->label(), node->domain));
}

}  // namespace

std::vector<std::string> verify(const Model& model) {
  std::vector<std::string> findings;
  check_graph(*model.graph, model.opsets, findings);
  for (const Function& function : model.functions) {
    std::vector<std::string> inside;
    check_graph(*function.body, function.opsets, inside);
    for (const std::string& finding : inside)
      findings.push_back(fmt::format("function '{}': {}", function.name, finding));
  }
  return findings;
}

void require_valid(const Model& model, std::string_view after) {
  const std::vector<std::string> findings = verify(model);
  if (!findings.empty()) internal_error("the graph is not valid after " + std::string(after), findings[0]);
}

}  // namespace mlopt
