#include "graphopt/implied_sizes.h"

#include <algorithm>

#include "core/tensor/cast.h"
#include "core/tensor/dim_product.h"
#include "graphopt/declared_types.h"
#include "graphopt/equal_sizes.h"

namespace mlopt::graphopt {
namespace {

/// The elements that the Reshape's shape has, where it has no open axis and none of a length that is not known.
std::optional<Dim> elements_of(const Node& reshape) {
  const Value* shape = reshape.input(1);
  if (!shape) return std::nullopt;
  SymDims dims;
  if (const Tensor* t = shape->known_constant()) {
    for (const int64_t d : to_ints(*t)) dims.emplace_back(d);
  } else if (shape->symbolic) {
    dims = *shape->symbolic;
  } else {
    return std::nullopt;
  }
  Dim count = 1;
  for (const Dim& d : dims) {
    constexpr int64_t kMost = int64_t{1} << 31;
    const auto value = d.value();
    if (!d.known() || (value && (*value < 1 || *value > kMost))) return std::nullopt;
    count = count * d;
  }
  return count.known() ? std::optional(count) : std::nullopt;
}

/// The size that makes `count` of the product of the dimensions, in which the symbol stands once.
std::optional<int64_t> only_size(const SymDims& dims, const std::string& symbol, const Dim& count) {
  const auto rest = Dim::divide(product(dims), Dim::symbol(symbol));
  const auto size = rest ? Dim::divide(count, *rest) : std::nullopt;
  const auto value = size ? size->value() : std::nullopt;
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

std::set<std::string> symbols_of(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Value* input : graph.inputs())
    if (input->type.dims)
      for (const Dim& d : *input->type.dims)
        if (const auto name = d.symbol_name()) symbols.insert(*name);
  return symbols;
}

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

std::map<std::string, int64_t> implied_sizes(const Model& model) {
  std::map<std::string, std::optional<int64_t>> sizes;
  for (const std::string& name : symbols_of(*model.graph)) sizes[name] = std::nullopt;
  if (sizes.empty()) return {};
  const std::set<const Node*> met = met_nodes(*model.graph);
  for (const Node* node : model.graph->nodes()) {
    if (!node->is("Reshape") || !node->input(0)->type.dims || !met.contains(node)) continue;
    const auto count = elements_of(*node);
    for (auto& [name, size] : sizes)
      if (!size && count) size = only_size(*node->input(0)->type.dims, name, *count);
  }
  std::map<std::string, int64_t> found;
  for (const auto& [name, size] : sizes)
    if (size) found.emplace(name, *size);
  return found;
}

std::map<std::string, int64_t> implied_sizes(const Model& read, TypeRule standard) {
  if (symbols_of(*read.graph).empty()) return {};
  Model model = clone(read);
  const DeclaredTypes forget(model);
  infer(model, standard, false);
  return implied_sizes(model);
}

ImpliedSizes::ImpliedSizes(Model& model) {
  const std::map<std::string, int64_t> sizes = implied_sizes(model);
  const std::map<std::string, Dim> equal = equal_sizes(model);
  for (Value* input : model.graph->inputs()) {
    if (!input->type.dims) continue;
    for (Dim& d : *input->type.dims) {
      const auto name = d.symbol_name();
      const auto found = name ? sizes.find(*name) : sizes.end();
      if (found == sizes.end() && !(name && equal.contains(*name))) continue;
      types_.emplace(input->name, input->type);
      d = found == sizes.end() ? equal.at(*name) : found->second;
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
