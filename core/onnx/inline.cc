#include <fmt/core.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/ir/instantiate.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

/// Calls of calls multiply: a small file could ask for more than memory holds.
constexpr int64_t kMostNodes = 1'000'000;

std::string plain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// Does `op` mean the same in both opsets of its domain? Operators that the standard does not know are taken as they
/// are.
bool same_meaning(const std::string& domain, const std::string& op, int64_t a, int64_t b) {
  if (a == b || a < 1 || b < 1 || a > INT32_MAX || b > INT32_MAX) return true;
  const auto* left = onnx::OpSchemaRegistry::Schema(op, static_cast<int>(a), domain);
  const auto* right = onnx::OpSchemaRegistry::Schema(op, static_cast<int>(b), domain);
  return left == right;
}

class Inliner {
 public:
  explicit Inliner(Model& model) : model_(model), names_(*model.graph) {
    for (const Function& f : model.functions) functions_[{plain(f.domain), f.name, f.overload}] = &f;
  }

  void run() {
    if (nodes_of_calls(*model_.graph) > kMostNodes) refuse_size();
    expand_in(*model_.graph);
    model_.functions.clear();
  }

 private:
  [[noreturn]] void refuse_size() const { input_error("functions expand to too many nodes", model_.path); }

  const Function* called_by(const Node& node) const {
    const auto found = functions_.find({node.domain, node.op, node.overload});
    return found == functions_.end() ? nullptr : found->second;
  }

  /// What the calls in a graph will become, counted before any node is made. A function that calls itself is not the
  /// business of this: expand() finds it.
  int64_t nodes_of_calls(const Graph& graph) {
    int64_t total = 0;
    for (const Node* node : all_nodes(graph))
      if (const Function* function = called_by(*node)) total = std::min(total + nodes_of(*function), kMostNodes + 1);
    return total;
  }

  int64_t nodes_of(const Function& function) {
    const auto [at, fresh] = counted_.try_emplace(&function, 0);
    if (!fresh) return at->second;
    const int64_t total = std::ssize(all_nodes(*function.body)) + nodes_of_calls(*function.body);
    return counted_[&function] = total;
  }

  /// Bodies first: a call that has some goes with them.
  void expand_in(Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (Graph* body : node->bodies()) expand_in(*body);
      expand(node);
    }
  }

  /// Replaces a call and the calls in what replaces it.
  void expand(Node* node) {
    const Function* called = called_by(*node);
    if (!called) return;
    const Function& function = *called;
    if (std::find(open_.begin(), open_.end(), &function) != open_.end())
      input_error(fmt::format("function '{}' calls itself", function.name), model_.path);
    match_opsets(function);
    open_.push_back(&function);
    for (Node* made : instantiate(node, function, names_)) {
      if (++made_ > kMostNodes) refuse_size();
      for (Graph* body : made->bodies()) expand_in(*body);
      expand(made);
    }
    open_.pop_back();
  }

  /// The body's operators must mean the same under the opsets of the model.
  void match_opsets(const Function& function) {
    if (!matched_.insert(&function).second) return;
    for (const OpsetImport& import : function.opsets) {
      const std::string domain = plain(import.domain);
      const int64_t ours = model_.opset(domain);
      if (ours == 0) {
        model_.opsets.push_back({import.domain, import.version});
        continue;
      }
      for (const Node* node : all_nodes(*function.body)) {
        if (node->domain != domain || same_meaning(domain, node->op, import.version, ours)) continue;
        unsupported_error(fmt::format("function '{}' uses {} of opset {}, the model has opset {}", function.name,
                                      node->op, import.version, ours),
                          model_.path,
                          fmt::format("inline functions as the opset changes (mlopt convert --inline --opset N), else "
                                      "convert the model to opset {} first",
                                      import.version));
      }
    }
  }

  Model& model_;
  FreshNames names_;
  std::map<std::tuple<std::string, std::string, std::string>, const Function*> functions_;
  std::vector<const Function*> open_;
  std::unordered_set<const Function*> matched_;
  std::unordered_map<const Function*, int64_t> counted_;
  int64_t made_ = 0;
};

}  // namespace

void inline_functions(Model& model) {
  if (!model.functions.empty()) Inliner(model).run();
}

}  // namespace mlopt
