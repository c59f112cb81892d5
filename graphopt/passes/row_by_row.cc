#include "graphopt/passes/row_by_row.h"

#include <algorithm>
#include <array>

#include "core/rewrite/axis_map.h"

namespace mlopt::graphopt {
namespace {

constexpr std::array kElementwise = {"Abs",      "Add",     "BiasGelu",  "Cast",        "Ceil",      "Celu",
                                     "Clip",     "Cos",     "Div",       "Elu",         "Erf",       "Exp",
                                     "FastGelu", "Floor",   "Gelu",      "HardSigmoid", "HardSwish", "LeakyRelu",
                                     "Log",      "Max",     "Min",       "Mish",        "Mul",       "Neg",
                                     "PRelu",    "Pow",     "QuickGelu", "Reciprocal",  "Relu",      "Round",
                                     "Selu",     "Sigmoid", "Sign",      "Sin",         "Softplus",  "Softsign",
                                     "Sqrt",     "Sub",     "Sum",       "Swish",       "Tanh",      "ThresholdedRelu"};

bool has_rank(const Value* v, size_t rank) { return v && v->type.dims && v->type.dims->size() == rank; }

/// Is it one row, or a number, for all rows?
bool is_same_for_rows(const Value* v, size_t rank) {
  if (!v) return true;
  const auto& dims = v->type.dims;
  return dims && dims->size() <= rank &&
         (dims->size() < 2 || std::all_of(dims->begin(), dims->end() - 1, [](const Dim& d) { return d.is(1); }));
}

/// Does the node, whose inputs from the second on are the same for all rows, work along the last axis?
bool works_along_rows(const Node& node, size_t rank, const Builder& builder) {
  const NodeView view = builder.view(node);
  if (node.is("MatMul")) return has_rank(node.input(1), 2);
  if (node.is("LayerNormalization") || node.is("RMSNormalization") || node.is("SimplifiedLayerNormalization"))
    return node.outputs().size() == 1 && is_last_axis(view.get_int("axis", -1), rank) &&
           is_same_for_rows(node.input(1), rank) && is_same_for_rows(node.input(2), rank);
  if (node.is("LpNormalization")) return is_last_axis(view.get_int("axis", -1), rank);
  if (node.is("Softmax") || node.is("LogSoftmax"))
    return is_last_axis(view.get_int("axis", builder.opset() < 13 ? 1 : -1), rank);
  return node.is("Split") && is_last_axis(view.get_int("axis", 0), rank);
}

}  // namespace

bool is_elementwise(const Node& node) {
  return (node.domain.empty() || node.domain == "com.microsoft") && node.outputs().size() == 1 &&
         std::find(kElementwise.begin(), kElementwise.end(), node.op) != kElementwise.end();
}

std::optional<std::vector<int64_t>> order_of_rows(const NodeView& transpose) {
  const Node& node = transpose.node();
  const Value* x = node.is("Transpose") ? node.input(0) : nullptr;
  if (!x || !x->type.dims) return std::nullopt;
  const size_t rank = x->type.dims->size();
  std::vector<int64_t> perm = transpose.get_ints("perm");
  if (rank < 2 || !is_permutation(perm, rank)) return std::nullopt;
  return is_last_axis(perm.back(), rank) ? std::optional(std::move(perm)) : std::nullopt;
}

std::optional<TurningTogether> turning_together(const Node& node, size_t rank, const Builder& builder) {
  TurningTogether all;
  // In the first opsets operands are aligned in another way.
  const bool elementwise = is_elementwise(node) && builder.opset() >= 7;
  const bool joins = node.is("Concat") && is_last_axis(builder.view(node).get_int("axis", 1), rank);
  if (elementwise || joins) {
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      Value* v = node.input(i);
      if (elementwise && is_same_for_rows(v, rank)) continue;
      if (has_rank(v, rank))
        all.rows.push_back(v);
      else if (elementwise && v->type.dims && v->type.dims->size() < rank)
        all.beside.push_back(i);
      else
        return std::nullopt;
    }
  } else if (has_rank(node.input(0), rank) && works_along_rows(node, rank, builder)) {
    all.rows.push_back(node.input(0));
  }
  if (all.rows.empty()) return std::nullopt;
  for (Value* y : node.outputs()) {
    if (!has_rank(y, rank)) return std::nullopt;
    all.rows.push_back(y);
  }
  return all;
}

}  // namespace mlopt::graphopt
