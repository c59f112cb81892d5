#include "graphopt/equal_sizes.h"

#include <algorithm>
#include <set>

#include "core/ir/view.h"
#include "core/rewrite/fusion/counting.h"
#include "graphopt/declared_types.h"
#include "graphopt/implied_sizes.h"

namespace mlopt::graphopt {
namespace {

/// Equations between dimensions, solved for symbols as they come.
class Equations {
 public:
  explicit Equations(const Graph& graph) : symbols_(symbols_of(graph)) {}

  std::map<std::string, Dim> solved;

  /// Solves for a symbol that stands alone on its side; the other side must have none but free dimensions.
  void add(const Dim& left, const Dim& right, bool sums) {
    // 4*A = 4*B says that A = B.
    const Dim difference = (in_terms_of(left, solved) - in_terms_of(right, solved)).primitive_part();
    if (!difference.known() || difference.is(0)) return;
    for (const std::string& symbol : symbols_) {
      if (solved.contains(symbol)) continue;
      const Dim rest = Dim::symbol(symbol) - difference, other = Dim::symbol(symbol) + difference;
      for (const Dim& value : {rest, other}) {
        if (!is_size(value, symbol, sums)) continue;
        for (auto& [name, dim] : solved) dim = in_terms_of(dim, {{symbol, value}});
        solved[symbol] = value;
        return;
      }
    }
  }

 private:
  /// Another symbol, or, for data, a sum of two.
  bool is_size(const Dim& value, const std::string& symbol, bool sums) const {
    const auto free = [&](const std::string& name) { return name != symbol && symbols_.contains(name); };
    if (const auto name = value.symbol_name()) return free(*name);
    return sums && std::any_of(symbols_.begin(), symbols_.end(), [&](const std::string& first) {
             const auto second = (value - Dim::symbol(first)).symbol_name();
             return second && free(first) && free(*second);
           });
  }

  std::set<std::string> symbols_;
};

/// Axes of Concat that are not joined.
void take_concat(const Node& node, const NodeView& view, Equations& equations) {
  const auto& first = node.input(0)->type.dims;
  if (!first) return;
  const auto rank = static_cast<int64_t>(first->size());
  const int64_t given = view.get_int("axis", 1), axis = given < 0 ? given + rank : given;
  for (const Value* v : node.inputs()) {
    if (!v->type.dims || v->type.dims->size() != first->size()) return;
    for (int64_t i = 0; i < rank; ++i)
      if (i != axis) equations.add((*first)[static_cast<size_t>(i)], (*v->type.dims)[static_cast<size_t>(i)], false);
  }
}

void take_product(const Node& node, Equations& equations) {
  const auto &a = node.input(0)->type.dims, &b = node.input(1)->type.dims;
  if (a && b && a->size() > 1 && b->size() > 1) equations.add(a->back(), b->end()[-2], false);
}

/// Axes that are broadcast to each other, and that are the same but for a 1.
void take_pair(const Value* x, const Value* y, Equations& equations) {
  const auto &a = x->type.dims, &b = y->type.dims;
  if (!a || !b) return;
  for (size_t i = 1; i <= std::min(a->size(), b->size()); ++i)
    if (!(*a)[a->size() - i].is(1) && !(*b)[b->size() - i].is(1))
      equations.add((*a)[a->size() - i], (*b)[b->size() - i], true);
}

bool broadcasts(const Node& node) {
  constexpr std::string_view kOps[] = {"Add", "Sub", "Mul", "Div", "And", "Or", "Min", "Max", "Where", "Sum"};
  return std::any_of(std::begin(kOps), std::end(kOps), [&](std::string_view op) { return node.is(op); });
}

/// The value before casts, and before Reshapes to as many axes, which likely leave it as it is.
const Value* as_given(const Value* v) {
  for (const Node* node = v->producer; node && (node->is("Cast") || node->is("Reshape")); node = v->producer) {
    const Value* x = node->input(0);
    if (!x->type.dims || !v->type.dims || x->type.dims->size() != v->type.dims->size()) break;
    v = x;
  }
  return v;
}

/// Elements whose places count along each axis: likely all of them, as PyTorch's exporters read a mask of padding.
void take_places(const Node& node, const Builder& builder, Equations& equations) {
  const auto& data = as_given(node.input(0))->type.dims;
  const Node* columns = node.input(1)->producer;
  if (!data || !columns || !columns->is("Concat") || columns->inputs().size() != data->size()) return;
  if (builder.view(node).get_int("batch_dims", 0) != 0) return;
  for (size_t i = 0; i < data->size(); ++i) {
    const Value* column = columns->inputs()[i];
    const auto count = fusion::count_of(column, builder);
    if (count && count->from.is(0)) equations.add((*data)[i], (*column->type.dims)[count->axis], true);
  }
}

/// Outputs whose axes have names of inputs' axes: the file says what these are.
void take_outputs(const Graph& inferred, const Graph& declared, Equations& equations) {
  for (size_t i = 0; i < declared.outputs().size(); ++i) {
    const auto &stated = declared.outputs()[i]->type.dims, &found = inferred.outputs()[i]->type.dims;
    if (!stated || !found || stated->size() != found->size()) continue;
    for (size_t k = 0; k < stated->size(); ++k) equations.add((*stated)[k], (*found)[k], true);
  }
}

/// With `declared`, the model as it was read, for data.
std::map<std::string, Dim> sizes_in(const Model& model, const Graph* declared) {
  Equations equations(*model.graph);
  const std::set<const Node*> met = met_nodes(*model.graph);
  const Builder builder(model, *model.graph, nullptr);
  for (const Node* node : model.graph->nodes()) {
    if (!met.contains(node)) continue;
    if (node->is("Concat")) take_concat(*node, {*node, model.opset()}, equations);
    if (node->is("MatMul")) take_product(*node, equations);
    if (!declared) continue;
    if (node->is("GatherND")) take_places(*node, builder, equations);
    if (!broadcasts(*node)) continue;
    for (size_t i = 1; i < node->inputs().size(); ++i)
      for (size_t k = 0; k < i; ++k) take_pair(node->inputs()[k], node->inputs()[i], equations);
  }
  if (declared) take_outputs(*model.graph, *declared, equations);
  return equations.solved;
}

}  // namespace

Dim in_terms_of(const Dim& dim, const std::map<std::string, Dim>& equal) {
  Dim value = dim;
  for (const auto& [name, other] : equal) {
    const Dim symbol = Dim::symbol(name);
    if (const auto own = value.symbol_name(); own == name) return other;
    // A sum in which the symbol stands once.
    const Dim rest = value - symbol;
    if (value.known() && (value + rest).str().find(name) != std::string::npos &&
        rest.str().find(name) == std::string::npos)
      value = rest + other;
  }
  return value;
}

std::map<std::string, Dim> equal_sizes(const Model& model) { return sizes_in(model, nullptr); }

std::map<std::string, Dim> likely_sizes(const Model& read, TypeRule standard) {
  if (symbols_of(*read.graph).size() < 2) return {};  // none is there to equal another
  Model model = clone(read);
  const DeclaredTypes forget(model);
  infer(model, standard, false);
  std::map<std::string, Dim> all = sizes_in(model, read.graph.get());
  // What is known of some sizes says more of others.
  for (int round = 0; round < 3; ++round) {
    for (Value* input : model.graph->inputs())
      if (input->type.dims)
        for (Dim& d : *input->type.dims) d = in_terms_of(d, all);
    const DeclaredTypes again(model);
    infer(model, standard, false);
    const std::map<std::string, Dim> more = sizes_in(model, read.graph.get());
    if (more.empty()) break;
    for (auto& [name, dim] : all) dim = in_terms_of(dim, more);
    all.insert(more.begin(), more.end());
  }
  return all;
}

}  // namespace mlopt::graphopt
