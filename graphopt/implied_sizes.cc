#include "graphopt/implied_sizes.h"

#include <algorithm>
#include <set>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::graphopt {
namespace {

/// Nodes of the main graph that a run meets: outputs are made from them.
std::set<const Node*> met_nodes(const Graph& graph) {
  std::set<const Node*> met;
  std::vector<Node*> nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
    for (const Value* v : (*it)->outputs()) {
      if (!v) continue;
      const bool read =
          std::any_of(v->uses.begin(), v->uses.end(), [&](const Use& use) { return met.contains(use.node); });
      if (v->is_output() || read) met.insert(*it);
    }
  return met;
}

/// The elements that the Reshape's constant shape has, where it has no open axis.
std::optional<int64_t> elements_of(const Node& reshape) {
  const Tensor* shape = reshape.input(1) ? reshape.input(1)->known_constant() : nullptr;
  if (!shape) return std::nullopt;
  int64_t count = 1;
  for (const int64_t d : to_ints(*shape)) {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (d < 1 || d > kMost / count) return std::nullopt;
    count *= d;
  }
  return count;
}

/// The size that makes `count` of the product of the dimensions, in which the symbol stands once.
std::optional<int64_t> only_size(const SymDims& dims, const std::string& symbol, int64_t count) {
  Dim product = 1;
  for (const Dim& d : dims) product = product * d;
  const auto rest = Dim::divide(product, Dim::symbol(symbol));
  const auto others = rest ? rest->value() : std::nullopt;
  return others && *others > 0 && count % *others == 0 ? std::optional(count / *others) : std::nullopt;
}

}  // namespace

ImpliedSizes::ImpliedSizes(Model& model) {
  std::map<std::string, std::optional<int64_t>> sizes;
  for (const Value* input : model.graph->inputs())
    if (input->type.dims)
      for (const Dim& d : *input->type.dims)
        if (const auto name = d.symbol_name()) sizes[*name] = std::nullopt;
  if (sizes.empty()) return;
  const std::set<const Node*> met = met_nodes(*model.graph);
  for (const Node* node : model.graph->nodes()) {
    if (!node->is("Reshape") || !node->input(0)->type.dims || !met.contains(node)) continue;
    const auto count = elements_of(*node);
    for (auto& [name, size] : sizes)
      if (!size && count) size = only_size(*node->input(0)->type.dims, name, *count);
  }
  for (Value* input : model.graph->inputs()) {
    if (!input->type.dims) continue;
    for (Dim& d : *input->type.dims) {
      const auto name = d.symbol_name();
      const auto found = name ? sizes.find(*name) : sizes.end();
      if (found == sizes.end() || !found->second) continue;
      types_.emplace(input->name, input->type);
      d = *found->second;
    }
  }
}

void ImpliedSizes::restore(Model& model) const {
  for (Value* input : model.graph->inputs()) {
    const auto own = types_.find(input->name);
    if (own != types_.end()) input->type = own->second;
  }
}

}  // namespace mlopt::graphopt
