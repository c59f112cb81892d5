#include "graphopt/passes/rows_needed.h"

#include <algorithm>
#include <array>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes/row_by_row.h"

namespace mlopt::graphopt {
namespace {

/// One node, whose inputs have known ranks, and the row of its output.
struct Question {
  const Node& node;
  const SymDims& y;
  size_t axis;
  bool stays;
  const Builder& builder;

  const SymDims& dims(int input) const { return *node.input(input)->type.dims; }
  NodeView view() const { return builder.view(node); }
  /// This row of the first input, all of the others.
  RowOfInput of_first(size_t axis_of_first) const {
    RowOfInput rows(node.inputs().size());
    rows[0] = axis_of_first;
    return rows;
  }
};
using Answer = std::optional<RowOfInput>;

/// Operands that are broadcast along the axis are needed whole.
Answer of_elements(const Question& ask) {
  RowOfInput rows(ask.node.inputs().size());
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    if (!ask.node.input(i)) continue;
    const SymDims& dims = ask.dims(i);
    if (dims.size() > ask.y.size()) return std::nullopt;
    const size_t missing = ask.y.size() - dims.size();
    if (ask.axis < missing) continue;
    const Dim& length = dims[ask.axis - missing];
    if (length.is(1) && ask.stays) continue;
    if (!(length == ask.y[ask.axis])) return std::nullopt;
    rows[static_cast<size_t>(i)] = ask.axis - missing;
  }
  return rows;
}

Answer of_matmul(const Question& ask) {
  if (!ask.node.input(1)) return std::nullopt;
  const size_t rank = ask.y.size(), right = ask.dims(1).size();
  if (ask.dims(0).size() != rank || right < 2 || ask.axis + 1 >= rank) return std::nullopt;
  // Without their axis rows of matrices are none.
  if (right > 2 && (ask.axis + 2 < rank || !ask.stays)) return std::nullopt;
  return ask.stays || rank > 2 ? std::optional(ask.of_first(ask.axis)) : std::nullopt;
}

/// Does a scale or a bias not differ from row to row?
bool is_for_all_rows(const Question& ask, int input) {
  if (!ask.node.input(input)) return true;
  const SymDims& dims = ask.dims(input);
  const size_t missing = ask.y.size() - std::min(dims.size(), ask.y.size());
  return ask.axis < missing || (ask.stays && dims[ask.axis - missing].is(1));
}

Answer of_norm(const Question& ask) {
  const int64_t from = ask.view().get_int("axis", -1);
  const bool before = from < 0 && static_cast<int64_t>(ask.axis) < from + static_cast<int64_t>(ask.y.size());
  const bool alike = is_for_all_rows(ask, 1) && is_for_all_rows(ask, 2);
  return before && alike ? std::optional(ask.of_first(ask.axis)) : std::nullopt;
}

/// ONNX Runtime's sum of two values, normalized.
Answer of_skip_norm(const Question& ask) {
  if (!ask.node.input(1)) return std::nullopt;
  if (ask.axis + 1 >= ask.y.size() || ask.dims(0) != ask.y || ask.dims(1) != ask.y) return std::nullopt;
  RowOfInput rows = ask.of_first(ask.axis);
  rows[1] = ask.axis;
  return rows;
}

Answer of_softmax(const Question& ask) {
  const auto rank = static_cast<int64_t>(ask.y.size());
  int64_t along = ask.view().get_int("axis", ask.builder.opset() < 13 ? 1 : -1);
  along += along < 0 ? rank : 0;
  const bool others = along != static_cast<int64_t>(ask.axis) && (ask.builder.opset() >= 13 || along == rank - 1);
  return ask.stays && others ? std::optional(ask.of_first(ask.axis)) : std::nullopt;
}

Answer of_transpose(const Question& ask) {
  const std::vector<int64_t> perm = ask.view().get_ints("perm");
  if (!ask.stays || !is_permutation(perm, ask.y.size())) return std::nullopt;
  return ask.of_first(static_cast<size_t>(perm[ask.axis]));
}

/// The axes in front of one, but for those of length 1.
SymDims before(const SymDims& dims, size_t axis) {
  SymDims front(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis));
  front.erase(std::remove_if(front.begin(), front.end(), [](const Dim& d) { return d.is(1); }), front.end());
  return front;
}

/// A Reshape by constants that leaves the axis and what is in front of it.
Answer of_reshape(const Question& ask) {
  const auto shape = ask.view().ints("shape", 1);
  if (!ask.stays || !shape || shape->size() != ask.y.size() || ask.view().get_int("allowzero", 0) != 0)
    return std::nullopt;
  const SymDims& x = ask.dims(0);
  for (size_t axis = 0; axis < x.size(); ++axis) {
    if (!(x[axis] == ask.y[ask.axis]) || before(x, axis) != before(ask.y, ask.axis)) continue;
    const bool copied = axis != ask.axis && axis < ask.y.size() && (*shape)[axis] == 0;
    return copied ? std::nullopt : std::optional(ask.of_first(axis));
  }
  return std::nullopt;
}

/// The row of what is added to scores, unless it is the same for all queries. False where it has another number of
/// rows.
bool takes_row(RowOfInput& rows, size_t input, const SymDims& scores, size_t axis, const Question& ask) {
  if (scores[axis].is(1)) return true;
  rows[input] = axis;
  return scores[axis] == ask.y[ask.axis];
}

/// Each query by itself, where none is told from others by its place.
Answer of_attention(const Question& ask) {
  const Node& node = ask.node;
  const size_t rank = ask.y.size(), queries = rank == 3 ? 1 : 2;
  const bool ordered = ask.view().get_int("is_causal", 0) != 0 || node.input(4) || node.input(5) || node.input(6);
  if (!ask.stays || ordered || ask.axis != queries || ask.dims(0).size() != rank) return std::nullopt;
  RowOfInput rows = ask.of_first(queries);
  if (!node.input(3)) return rows;
  const SymDims& mask = ask.dims(3);
  if (mask.size() < 2) return std::nullopt;
  return takes_row(rows, 3, mask, mask.size() - 2, ask) ? std::optional(rows) : std::nullopt;
}

/// The same in ONNX Runtime, where queries come by themselves.
Answer of_multi_head(const Question& ask) {
  enum { kQuery, kKey, kValue, kBias, kMask, kScoreBias, kPast };
  const Node& node = ask.node;
  const auto has_rank = [&](int input, size_t rank) { return node.input(input) && ask.dims(input).size() == rank; };
  if (!ask.stays || ask.axis != 1 || !has_rank(kQuery, 3) || !has_rank(kKey, 3) || !has_rank(kValue, 3))
    return std::nullopt;
  const auto others = node.inputs().size() > kPast ? node.inputs().begin() + kPast : node.inputs().end();
  const bool past = std::any_of(others, node.inputs().end(), [](const Value* v) { return v != nullptr; });
  if (past || ask.view().get_int("unidirectional", 0) != 0 || (node.input(kMask) && !has_rank(kMask, 2)))
    return std::nullopt;
  RowOfInput rows = ask.of_first(1);
  if (node.input(kScoreBias) && !has_rank(kScoreBias, 4)) return std::nullopt;
  if (node.input(kScoreBias) && !takes_row(rows, kScoreBias, ask.dims(kScoreBias), 2, ask)) return std::nullopt;
  return rows;
}

/// What else works on each element by itself, of other types too.
constexpr std::array kConditions = {"And", "Greater", "GreaterOrEqual", "IsNaN", "Less", "LessOrEqual",
                                    "Not", "Or",      "Where"};

struct RowRule {
  const char* op;
  Answer (*answer)(const Question&);
  const char* domain = "";
};
constexpr RowRule kRules[] = {{"MatMul", of_matmul},
                              {"LayerNormalization", of_norm},
                              {"RMSNormalization", of_norm},
                              {"SimplifiedLayerNormalization", of_norm},
                              {"SkipLayerNormalization", of_skip_norm, "com.microsoft"},
                              {"Softmax", of_softmax},
                              {"Transpose", of_transpose},
                              {"Reshape", of_reshape},
                              {"Attention", of_attention},
                              {"MultiHeadAttention", of_multi_head, "com.microsoft"}};

bool has_known_ranks(const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) { return !v || v->type.dims; });
}

}  // namespace

std::optional<RowOfInput> rows_needed(const Node& node, size_t axis, bool stays, const Builder& builder) {
  const Value* y = node.output(0);
  const bool usual = node.input(0) && node.outputs().size() == 1 && y && builder.opset() >= 7;
  if (!usual || !y->type.dims || !has_known_ranks(node)) return std::nullopt;
  const Question ask{node, *y->type.dims, axis, stays, builder};
  for (const RowRule& rule : kRules)
    if (node.is(rule.op, rule.domain)) return rule.answer(ask);
  return works_by_element(node) ? of_elements(ask) : std::nullopt;
}

bool works_by_element(const Node& node) {
  const bool condition =
      node.domain.empty() && std::find(kConditions.begin(), kConditions.end(), node.op) != kConditions.end();
  return condition || is_elementwise(node);
}

Value* shape_of_row(const Node& reshape, size_t axis, Builder& builder) {
  std::vector<int64_t> shape = *builder.view(reshape).ints("shape", 1);
  shape[axis] = 1;
  return builder.constant(reshape.output(0)->name + "_shape", Tensor::ints(shape));
}

}  // namespace mlopt::graphopt
