// Reshape and Transpose of rows to a matrix, Gemm or MatMul, and the rows back to where they are wanted -> MatMul of
// the rows where they are wanted, or where they come from, and Add, where that is fewer operators.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/tensor/picked.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// The weight as MatMul wants it.
Value* plain_weight(const Node& gemm, Builder& builder) {
  Value* weight = gemm.input(1);
  if (gemm.is("MatMul") || builder.view(gemm).get_int("transB", 0) == 0) return weight;
  return builder.successor(weight, transposed(*weight->known_constant()));
}

/// Do all that read the weight turn it, between layouts, so that each of them may have it turned?
bool turned_by_all(const Value& weight, const Builder& builder) {
  return !weight.is_output() && std::all_of(weight.uses.begin(), weight.uses.end(), [&](const Use& use) {
    const Node& node = *use.node;
    if (!node.is("Gemm") || use.index != 1 || builder.view(node).get_int("transB", 0) == 0) return false;
    const Value* y = node.output(0);
    return y && is_layout(node.input(0)->producer) && y->single_use() && is_layout(y->uses[0].node);
  });
}

const char* why_no_product(const Node& gemm, const Builder& builder) {
  const auto& shape = gemm.input(1)->type.dims;
  if (gemm.is("MatMul")) return shape && shape->size() == 2 ? nullptr : "its weight is no matrix";
  const NodeView view = builder.view(gemm);
  const Tensor* weight = gemm.input(1)->known_constant();
  if (!weight || weight->rank() != 2 || !is_foldable_float(weight->dtype())) return "its weight is no constant matrix";
  if (view.get_int("transA", 0) || view.get_float("alpha", 1) != 1 || (gemm.input(2) && view.get_float("beta", 1) != 1))
    return "its product is scaled or turned";
  if (view.get_int("transB", 0) && !gemm.input(1)->single_use() && !turned_by_all(*gemm.input(1), builder))
    return "its weight is used elsewhere too";
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
  if (!way.apply(before, builder)) return std::nullopt;
  const Dim width = way.dims().back();
  for (const Node* node : after) {
    const auto last = columns.apply(*node, builder) ? columns.place_of_last() : std::nullopt;
    if (!last) return std::nullopt;
    SymDims to = columns.dims();
    to[*last] = width;
    if (!(node->is("Transpose") ? way.apply(*node, builder) : way.reshape(to))) return std::nullopt;
  }
  return columns.keeps_last() ? std::optional(way) : std::nullopt;
}

/// From the product of what the rows are made of to the end, where the rows are whole all the way.
std::optional<AxisMap> way_of_product(const std::vector<const Node*>& before, const std::vector<const Node*>& after,
                                      const Node& gemm, const Builder& builder) {
  const auto &source = before.front()->input(0)->type.dims, &product = gemm.output(0)->type.dims;
  if (!source || source->size() < 2 || !product) return std::nullopt;
  SymDims made = *source;
  made.back() = product->back();
  AxisMap rows(*source), way(made);
  for (const Node* node : before) {
    const auto last = rows.apply(*node, builder) ? rows.place_of_last() : std::nullopt;
    if (!last) return std::nullopt;
    SymDims to = rows.dims();
    to[*last] = product->back();
    if (!(node->is("Transpose") ? way.apply(*node, builder) : way.reshape(to))) return std::nullopt;
  }
  if (!rows.keeps_last() || !way.apply(after, builder)) return std::nullopt;
  return way.writable() ? std::optional(way) : std::nullopt;
}

/// x weight, and the bias.
Value* product_of(Value* x, const Node& gemm, const Type& type, Builder& builder) {
  Value* y = builder.op("MatMul", {x, plain_weight(gemm, builder)}, {}, type);
  return gemm.input(2) ? builder.op("Add", {y, gemm.input(2)}, {}, type) : y;
}

/// Do several products and nothing else read the rows, whose order is the source's? Then each of them may read the
/// source, and nothing is left that makes the rows.
bool only_products_read(const Value& rows, const std::vector<const Node*>& before) {
  const auto turns = [](const Node* node) { return node->is("Transpose"); };
  const auto multiplies = [](const Use& use) {
    return use.index == 0 && (use.node->is("MatMul") || use.node->is("Gemm"));
  };
  return rows.uses.size() > 1 && !rows.is_output() && std::none_of(before.begin(), before.end(), turns) &&
         std::all_of(rows.uses.begin(), rows.uses.end(), multiplies);
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
  Value* source = before.front()->input(0);
  const Type& type = m.root->output(0)->type;
  const int64_t gone = std::ssize(after) + (rows->single_use() ? std::ssize(before) : 0);
  const auto pays = [&](const AxisMap& way, int64_t most) { return way.cost() + (gemm->input(2) ? 2 : 1) <= most; };
  const auto way = whole_way(before, after, *gemm, builder);
  if (way && way->writable() && pays(*way, gone)) {
    Value* x = way->make(builder, source, Type::tensor(type.dtype, way->dims()));
    return Replacement{product_of(x, *gemm, type, builder)};
  }
  const auto later = way_of_product(before, after, *gemm, builder);
  if (later && pays(*later, gone + (only_products_read(*rows, before) ? 1 : 0))) {
    SymDims made = *source->type.dims;
    made.back() = product->type.dims->back();
    return Replacement{later->make(builder, product_of(source, *gemm, Type::tensor(type.dtype, made), builder), type)};
  }
  if (!way && !later) return Decline{"its columns move, or the axes are not known"};
  return Decline{way && !way->writable() ? "its rows cannot be shaped by constants"
                                         : "that would be no fewer operators"};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Squeeze|Unsqueeze|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass gemm_of_rows_to_matmul = {"gemm_of_rows_to_matmul",
                                     "replace Gemm of rows that are flattened and parted again by MatMul", rules};

}  // namespace mlopt::graphopt
