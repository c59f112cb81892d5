#include "core/rewrite/fusion/mask.h"

#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

const Node* producer_of(const Value* v, std::string_view op) {
  return v && v->producer && v->producer->is(op) ? v->producer : nullptr;
}

/// Does v count along the axis that is `from_end` axes before the end?
bool counts_at(const Value* v, size_t from_end, const Builder& builder) {
  const auto axis = counts_along(v, builder);
  return axis && *axis + from_end == v->type.dims->size();
}

/// Is it true exactly where the key comes after the query (`after`), or where it does not?
bool is_order(const Value* v, bool after, const Builder& builder) {
  const Node* node = v->producer;
  if (!node || !node->domain.empty()) return false;
  if (node->op == "Not") return is_order(node->input(0), !after, builder);
  if (node->inputs().size() != 2) return false;
  const bool keys_first = node->op == (after ? "Greater" : "LessOrEqual");
  const bool rows_first = node->op == (after ? "Less" : "GreaterOrEqual");
  if (!keys_first && !rows_first) return false;
  const Value *keys = node->input(keys_first ? 0 : 1), *rows = node->input(keys_first ? 1 : 0);
  return counts_at(keys, 1, builder) && counts_at(rows, 2, builder);
}

bool is_hidden(const Value* v) {
  const auto number = only_number(v);
  return number && *number <= kHidden;
}
bool is_zero(const Value* v) { return only_number(v) == 0.0; }

/// Rows of the keys above the diagonal.
bool is_triangle(const Node& node, const Builder& builder) {
  if (builder.view(node).get_int("upper", 1) == 0 || !is_hidden(node.input(0))) return false;
  const Tensor* k = node.input(1) ? node.input(1)->known_constant() : nullptr;
  return k && k->size() == 1 && number_at(*k, 0) == 1;
}

/// The operand of And beside a condition that always holds.
Value* beside_true(const Node& both) {
  for (const int i : {0, 1})
    if (always_true(both.input(i))) return both.input(1 - i);
  return nullptr;
}

/// What v is made of by giving it further axes of length 1, or by repeating it; null where it is something else.
Value* before_axes_of(const Value& v) {
  const Node* node = v.producer;
  if (!node || !node->domain.empty()) return nullptr;
  if (node->op == "And") return beside_true(*node);
  const bool axes = node->op == "Unsqueeze" || node->op == "Reshape" || node->op == "Expand";
  return axes ? node->input(0) : nullptr;
}

SymDims without_ones(SymDims dims) {
  std::erase_if(dims, [](const Dim& d) { return d.is(1); });
  return dims;
}

/// [batch, keys] of what is only given further axes of length 1, or repeated for every query.
Value* before_axes(Value* v, const Dim& batch, const Dim& keys) {
  const SymDims wanted = without_ones({batch, keys});
  for (int depth = 0; depth < 8; ++depth) {
    const auto& dims = v->type.dims;
    if (dims && *dims == SymDims{batch, keys}) return v;
    Value* inner = before_axes_of(*v);
    if (!inner || !inner->type.dims || without_ones(*inner->type.dims) != wanted) return nullptr;
    v = inner;
  }
  return nullptr;
}

}  // namespace

bool is_causal(const Value* mask, const Builder& builder) {
  const auto& dims = mask->type.dims;
  if (!dims || dims->size() < 2 || !(dims->back() == (*dims)[dims->size() - 2])) return false;
  if (const Node* node = producer_of(mask, "Mul"))
    for (const int i : {0, 1}) {
      const Node* cast = producer_of(node->input(i), "Cast");
      if (cast && is_hidden(node->input(1 - i)) && is_order(cast->input(0), true, builder)) return true;
    }
  if (const Node* node = producer_of(mask, "Where")) {
    const Value *yes = node->input(1), *no = node->input(2);
    if (is_zero(yes) && is_hidden(no)) return is_order(node->input(0), false, builder);
    if (is_hidden(yes) && is_zero(no)) return is_order(node->input(0), true, builder);
  }
  const Node* triangle = producer_of(mask, "Trilu");
  if (triangle) return is_triangle(*triangle, builder);
  for (const char* op : {"Unsqueeze", "Cast"})
    if (const Node* node = producer_of(mask, op)) return is_causal(node->input(0), builder);
  return false;
}

std::optional<PaddingMask> padding_of(const Value* mask) {
  const Node* node = producer_of(mask, "Where");
  if (!node || !mask->type.dims || mask->type.dims->size() != 4) return std::nullopt;
  const auto hidden = only_number(node->input(2));
  if (!is_zero(node->input(1)) || !hidden || *hidden > kHidden) return std::nullopt;
  Value* keys = before_axes(node->input(0), mask->type.dims->front(), mask->type.dims->back());
  return keys && keys->type.dtype == DType::kBool ? std::optional(PaddingMask{keys, *hidden}) : std::nullopt;
}

}  // namespace mlopt::fusion
