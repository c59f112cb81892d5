#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/model.h"

namespace mlopt {

/// Names that no value, or no node, of a graph or of its bodies has; quicker than Graph::fresh_name where many are
/// needed.
class FreshNames {
 public:
  /// `graph`: the main graph or a function's body.
  explicit FreshNames(const Graph& graph);
  std::string make(std::string_view hint) { return values_.make(hint); }
  /// For a node: runtimes refuse two nodes of one name. Empty for none.
  std::string make_node(std::string_view hint) { return hint.empty() ? "" : nodes_.make(hint); }

 private:
  struct Names {
    std::unordered_set<std::string> taken;
    std::unordered_map<std::string, int> next;
    std::string make(std::string_view hint);
  };
  Names values_, nodes_;
};

/// Puts the body of `function` in the place of `call`, which is erased: omitted inputs stay omitted, attributes come
/// from the call or the function's defaults, names of outputs stay. Opsets are the caller's business. The new nodes, in
/// order.
std::vector<Node*> instantiate(Node* call, const Function& function, FreshNames& names);

/// Puts a branch of the If `node` in its place likewise.
std::vector<Node*> instantiate_branch(Node* node, const Graph& branch, FreshNames& names);

}  // namespace mlopt
