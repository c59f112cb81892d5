#include "quantize/emit/keep_integer.h"

#include "core/rewrite/pass.h"
#include "quantize/emit/part.h"

namespace mlopt::quantize {
namespace {

bool is_dequantized(const Value* v) { return v && v->producer && v->producer->is("DequantizeLinear"); }

/// The Add that alone reads the product; null if there is none.
Node* sum_of(const Node& product) {
  const Value* y = product.output(0);
  return y->single_use() && y->uses[0].node->is("Add") ? y->uses[0].node : nullptr;
}

void give_rank(Graph& graph, Node* add, int index, size_t rank) {
  const Value* bias = add->input(index);
  if (!bias->known_constant() || bias->constant->rank() != 1) return;
  Dims row(rank, 1);
  row.back() = bias->constant->size();
  graph.set_input(add, index, graph.add_constant(bias->name + "_row", bias->constant->reshaped(row)));
}

}  // namespace

void keep_integer(Model& model) {
  Graph& graph = *model.graph;
  for (const Node* node : graph.nodes()) {
    if (!node->is("MatMul") || !is_dequantized(node->input(0)) || !is_dequantized(node->input(1))) continue;
    Node* add = sum_of(*node);
    if (!add) continue;
    const int index = node->output(0)->uses[0].index;
    const auto& dims = node->output(0)->type.dims;
    if (dims && dims->size() > 2)
      give_rank(graph, add, 1 - index, dims->size());
    else
      part(graph, node->output(0)->uses[0]);
  }
  remove_dead(model);
}

}  // namespace mlopt::quantize
