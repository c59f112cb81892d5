// Reshape and Transpose of rows to a matrix, Gemm or MatMul, and the rows back to where they are wanted -> MatMul of
// the rows where they are wanted, and Add, where that is fewer operators.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// The weight as MatMul wants it.
Value* plain_weight(const Node& gemm, Builder& builder) {
  Value* weight = gemm.input(1);
  if (gemm.is("MatMul") || builder.view(gemm).get_int("transB", 0) == 0) return weight;
  const Tensor& t = *weight->known_constant();
  const int64_t rows = t.dim(0), columns = t.dim(1);
  const std::vector<double> old = to_doubles(t);
  std::vector<double> turned(old.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < columns; ++k)
      turned[static_cast<size_t>(k * rows + i)] = old[static_cast<size_t>(i * columns + k)];
  return builder.successor(weight, *tensor_like(t, {columns, rows}, turned));
}

const char* why_no_product(const Node& gemm, const Builder& builder) {
  const auto& shape = gemm.input(1)->type.dims;
  if (gemm.is("MatMul")) return shape && shape->size() == 2 ? nullptr : "its weight is no matrix";
  const NodeView view = builder.view(gemm);
  const Tensor* weight = gemm.input(1)->known_constant();
  if (!weight || weight->rank() != 2 || !is_foldable_float(weight->dtype())) return "its weight is no constant matrix";
  if (view.get_int("transA", 0) || view.get_float("alpha", 1) != 1 || (gemm.input(2) && view.get_float("beta", 1) != 1))
    return "its product is scaled or turned";
  if (view.get_int("transB", 0) && !gemm.input(1)->single_use()) return "its weight is used elsewhere too";
  if (gemm.input(2) && (!gemm.input(2)->type.dims || gemm.input(2)->type.dims->size() != 1))
    return "its bias is no row";
  return nullptr;
}

/// From what the Gemm's rows are made of to where they end, `width` of them; nothing where its columns move.
std::optional<AxisMap> whole_way(const std::vector<const Node*>& before, const std::vector<const Node*>& after,
                                 const Node& gemm, const Builder& builder) {
  const auto &source = before.front()->input(0)->type.dims, &product = gemm.output(0)->type.dims;
  if (!source || !product || product->size() != 2) return std::nullopt;
  AxisMap way(*source), columns(*product);
  for (const Node* node : before)
    if (!way.apply(*node, builder)) return std::nullopt;
  const Dim width = way.dims().back();
  for (const Node* node : after) {
    if (!columns.apply(*node, builder) || !columns.keeps_last()) return std::nullopt;
    SymDims to = columns.dims();
    to.back() = width;
    if (!(node->is("Transpose") ? way.apply(*node, builder) : way.reshape(to))) return std::nullopt;
  }
  return way;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<const Node*> after = layout_chain(m.root);
  const Value* product = after.front()->input(0);
  const Node* gemm = product->producer;
  if (!gemm || !(gemm->is("Gemm") || gemm->is("MatMul")) || !product->single_use()) return Decline{};
  const Value* rows = gemm->input(0);
  if (!is_layout(rows->producer) || rows->graph != &builder.graph || builder.opset() < 7) return Decline{};
  if (const char* why = why_no_product(*gemm, builder)) return Decline{why};
  const std::vector<const Node*> before = layout_chain(rows->producer);
  const auto way = whole_way(before, after, *gemm, builder);
  if (!way) return Decline{"its columns move, or the axes are not known"};
  const int64_t made = way->cost() + (gemm->input(2) ? 2 : 1);
  if (!way->writable()) return Decline{"its rows cannot be shaped by constants"};
  const size_t gone = after.size() + (rows->single_use() ? before.size() : 0);
  if (made > static_cast<int64_t>(gone)) return Decline{"that would be no fewer operators"};
  const Type& type = m.root->output(0)->type;
  Value* x = way->make(builder, before.front()->input(0), Type::tensor(type.dtype, way->dims()));
  Value* weight = plain_weight(*gemm, builder);
  Value* y = builder.op("MatMul", {x, weight}, {}, type);
  return Replacement{gemm->input(2) ? builder.op("Add", {y, gemm->input(2)}, {}, type) : y};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Squeeze|Unsqueeze|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass gemm_of_rows_to_matmul = {"gemm_of_rows_to_matmul",
                                     "replace Gemm of rows that are flattened and parted again by MatMul", rules};

}  // namespace mlopt::graphopt
