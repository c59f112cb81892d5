// MatMul(x, A), MatMul(x, B), ... of one x and constant matrices, as queries, keys and values are -> one MatMul with
// the matrices side by side, and Split; rows that are added to each product are added to the one.
// Fewer operators, but hardly faster: ONNX Runtime on a CPU takes as long (1.00 of BERT-base's time, 1.01 of a
// decoder's of 160M, whose parts Split has to copy), and finds attention no more; our own CPU backend wins 5 % at 16
// rows and nothing at 128. So it runs where it is asked for.
#include "core/rewrite/fusion/projection.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

using fusion::Projection;

/// The products of one value, and the values that take their place: sums where every one has a row added to it.
struct Shared {
  std::vector<Projection> products;
  std::vector<Value*> results;
  bool biased = false;
};

const Tensor* matrix_of(const Node& node) {
  const Tensor* t = node.is("MatMul") && node.output(0) ? node.input(1)->known_constant() : nullptr;
  return t && t->rank() == 2 && t->size() > 0 && is_foldable_float(t->dtype()) ? t : nullptr;
}

/// Add(y, row) where nothing else reads y and the row has a number for each of its columns.
Node* sum_with_row(const Value& y, const Tensor& matrix, Value*& row) {
  Node* sum = y.single_use() && y.uses[0].node->is("Add") ? y.uses[0].node : nullptr;
  if (!sum || sum->graph() != y.graph || !sum->output(0) || sum->output(0)->is_output()) return nullptr;
  row = sum->input(sum->input(0) == &y ? 1 : 0);
  const Tensor* t = row->known_constant();
  const bool fits = t && t->rank() == 1 && t->dim(0) == matrix.dim(1) && t->dtype() == matrix.dtype();
  return fits && row->single_use() ? sum : nullptr;
}

/// The products with x in the graph of `first`, a matrix that others read or products that are outputs left out.
Shared shared_with(const Node& first, const PassContext& context) {
  Shared all;
  const Tensor& like = *matrix_of(first);
  for (const Use& use : first.input(0)->uses) {
    Node* node = use.node;
    const Tensor* matrix = use.index == 0 && node->graph() == first.graph() ? matrix_of(*node) : nullptr;
    if (!matrix || matrix->dtype() != like.dtype() || matrix->dim(0) != like.dim(0)) continue;
    if (!node->input(1)->single_use() || node->output(0)->is_output() || !context.allows(*node)) continue;
    all.products.push_back({node->input(0), node->input(1), nullptr});
    all.results.push_back(node->output(0));
  }
  std::vector<Projection> biased = all.products;
  std::vector<Value*> sums;
  for (Projection& p : biased)
    if (Node* sum = sum_with_row(*all.results[sums.size()], *p.weight->known_constant(), p.bias))
      sums.push_back(sum->output(0));
    else
      return all;
  return {biased, sums, true};
}

Value* joined(const Shared& all, const Type& like, Builder& builder) {
  int64_t width = 0;
  for (const Projection& p : all.products) width += p.weight->known_constant()->dim(1);
  SymDims dims = *like.dims;
  dims.back() = Dim(width);
  const Type type = Type::tensor(like.dtype, dims);
  Value* y = builder.op("MatMul", {all.products.front().x, fusion::joined_weights(all.products, builder)}, {}, type);
  return all.biased ? builder.op("Add", {y, fusion::joined_biases(all.products, builder)}, {}, type) : y;
}

/// y taken apart along its last axis, each part in the place of its product.
void part(Value* y, const Shared& all, const Node* before, Builder& builder) {
  std::vector<int64_t> widths;
  for (const Projection& p : all.products) widths.push_back(p.weight->known_constant()->dim(1));
  Node* split = make_split(builder.at(before), y, y->type.dims->size() - 1, widths);
  for (size_t i = 0; i < widths.size(); ++i) {
    split->output(static_cast<int>(i))->type = all.results[i]->type;
    split->origins.push_back(all.results[i]->producer->label());
    builder.graph.replace_uses(all.results[i], split->output(static_cast<int>(i)));
  }
}

void remove(const Shared& all, Graph& graph) {
  for (Value* result : all.results) {
    Node* node = result->producer;
    Node* product = nullptr;
    for (Value* in : node->inputs())
      if (all.biased && in->producer) product = in->producer;
    graph.erase(node);
    if (product) graph.erase(product);
  }
}

bool merge_first(Graph& graph, const Model& model, const PassContext& context) {
  for (Node* node : graph.nodes()) {
    if (!matrix_of(*node) || node->input(0)->uses.size() < 2) continue;
    const Shared all = shared_with(*node, context);
    const Type& type = node->output(0)->type;
    if (all.products.size() < 2 || !type.dims || type.dims->size() < 2) continue;
    Builder builder(model, graph, node, context.target);
    part(joined(all, type, builder), all, node, builder);
    remove(all, graph);
    return true;
  }
  return false;
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  if (model.opset() < 7) return;  // Add broadcasts in another way
  rewrite_one_by_one(
      *model.graph, [&](Graph& graph) { return merge_first(graph, model, context); }, tally);
}

}  // namespace

const Pass merge_shared_matmuls = {"merge_shared_matmuls",
                                   "multiply a value by its constant matrices at once, as for queries, keys and values",
                                   nullptr, run};

}  // namespace mlopt::graphopt
