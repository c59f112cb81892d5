#include "core/rewrite/fusion/mask.h"

#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/numbers.h"
#include "core/tensor/cast.h"

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

/// Does a list hold one number alone?
bool is_one_number(const Value* v, double number) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  return t && t->size() == 1 && number_at(*t, 0) == number;
}

/// Of a constant [1, ..., n, n]: `wanted` of the number and whether it is above the diagonal, everywhere.
template <class Wanted>
bool everywhere(const Tensor& t, Wanted wanted) {
  constexpr int64_t kMost = 1 << 22;
  if (t.rank() < 2 || t.size() > kMost || t.size() == 0) return false;
  const int64_t n = t.dim(t.rank() - 1);
  if (t.dim(t.rank() - 2) != n || t.size() != n * n) return false;
  const std::vector<double> numbers = to_doubles(t);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      if (!wanted(numbers[static_cast<size_t>(i * n + k)], k > i)) return false;
  return true;
}

/// What has the same numbers in its first rows and columns, v being all of them or less: before a Slice from the
/// start, or axes of length 1 in front.
const Value* same_corner(const Node& node, const Builder& builder) {
  const NodeView view = builder.view(node);
  const auto &in = node.input(0)->type.dims, &out = node.output(0)->type.dims;
  if (node.is("Slice") && builder.opset() >= 10) {
    const auto starts = view.ints("starts", 1), steps = view.ints("steps", 4, {1});
    const auto is = [](const auto& list, int64_t wanted) {
      return list && std::all_of(list->begin(), list->end(), [wanted](int64_t x) { return x == wanted; });
    };
    return is(starts, 0) && is(steps, 1) ? node.input(0) : nullptr;
  }
  if (!node.is("Unsqueeze") && !node.is("Reshape")) return nullptr;
  const bool corner =
      in && out && in->size() >= 2 && out->size() >= 2 && std::equal(in->end() - 2, in->end(), out->end() - 2);
  return corner ? node.input(0) : nullptr;
}

/// Trilu of nothing but ones.
bool is_order_of_ones(const Node& node, bool after, const Builder& builder) {
  if (only_number(node.input(0)) != 1.0) return false;
  const bool upper = builder.view(node).get_int("upper", 1) != 0;
  return upper == after &&
         (after ? is_one_number(node.input(1), 1) : !node.input(1) || is_one_number(node.input(1), 0));
}

bool is_comparison(const Node& node, bool after, const Builder& builder) {
  if (node.inputs().size() != 2) return false;
  const bool keys_first = node.op == (after ? "Greater" : "LessOrEqual");
  const bool rows_first = node.op == (after ? "Less" : "GreaterOrEqual");
  if (!keys_first && !rows_first) return false;
  const Value *keys = node.input(keys_first ? 0 : 1), *rows = node.input(keys_first ? 1 : 0);
  return counts_at(keys, 1, builder) && counts_at(rows, 2, builder);
}

bool is_hidden(const Value* v) {
  const auto number = only_number(v);
  return number && *number <= kHidden;
}
bool is_zero(const Value* v) { return only_number(v) == 0.0; }

/// Is it 1 in the places that is_order() names, and 0 in the others?
bool is_ones(const Value* v, bool after, const Builder& builder) {
  if (const Tensor* t = v->known_constant())
    return everywhere(*t, [after](double x, bool above) { return x == (above == after ? 1 : 0); });
  const Node* node = v->producer;
  if (!node || !node->domain.empty()) return false;
  if (node->op == "Trilu") return is_order_of_ones(*node, after, builder);
  const Value* inner = node->op == "Cast" ? node->input(0) : same_corner(*node, builder);
  return inner &&
         (inner->type.dtype == DType::kBool ? is_order(inner, after, builder) : is_ones(inner, after, builder));
}

/// Rows of the keys above the diagonal.
bool is_triangle(const Node& node, const Builder& builder) {
  if (builder.view(node).get_int("upper", 1) == 0 || !is_hidden(node.input(0))) return false;
  return is_one_number(node.input(1), 1);
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

bool is_order(const Value* v, bool after, const Builder& builder) {
  if (const Tensor* t = v->known_constant())
    return everywhere(*t, [after](double x, bool above) { return (x != 0) == (above == after); });
  const Node* node = v->producer;
  if (!node || !node->domain.empty()) return false;
  if (node->op == "Not") return is_order(node->input(0), !after, builder);
  if (node->op == "Cast") return is_order(node->input(0), after, builder);
  if (node->op == "Equal" && only_number(node->input(1)) == 0.0) return is_order(node->input(0), !after, builder);
  if (node->op == "Trilu") return is_order_of_ones(*node, after, builder);
  if (const Value* inner = same_corner(*node, builder)) return is_order(inner, after, builder);
  return is_comparison(*node, after, builder);
}

bool is_causal(const Value* mask, const Builder& builder) {
  const auto& dims = mask->type.dims;
  if (!dims || dims->size() < 2 || !(dims->back() == (*dims)[dims->size() - 2])) return false;
  if (const Tensor* t = mask->known_constant())
    return everywhere(*t, [](double x, bool above) { return above ? x <= kHidden : x == 0; });
  if (const Node* node = producer_of(mask, "Mul"))
    for (const int i : {0, 1}) {
      if (!is_hidden(node->input(1 - i))) continue;
      const Value* factor = node->input(i);
      const Node *cast = producer_of(factor, "Cast"), *rest = producer_of(factor, "Sub");
      if (cast && cast->input(0)->type.dtype == DType::kBool && is_order(cast->input(0), true, builder)) return true;
      if (rest && only_number(rest->input(0)) == 1.0 && is_ones(rest->input(1), false, builder)) return true;
      if (is_ones(factor, true, builder)) return true;
    }
  if (const Node* node = producer_of(mask, "Where")) {
    const Value *yes = node->input(1), *no = node->input(2);
    if (is_zero(yes) && is_hidden(no)) return is_order(node->input(0), false, builder);
    if (is_hidden(yes) && is_zero(no)) return is_order(node->input(0), true, builder);
  }
  const Node* triangle = producer_of(mask, "Trilu");
  if (triangle) return is_triangle(*triangle, builder);
  for (const char* op : {"Unsqueeze", "Cast", "Slice"})
    if (const Node* node = producer_of(mask, op)) {
      const Value* inner = node->is("Cast") ? node->input(0) : same_corner(*node, builder);
      return inner && is_causal(inner, builder);
    }
  return false;
}

std::optional<std::pair<Choice, Value*>> choice_of(const Value* v) {
  const Node* node = producer_of(v, "Where");
  if (!node) return std::nullopt;
  for (const int i : {1, 2})
    if (const auto hidden = only_number(node->input(i)); hidden && *hidden <= kHidden)
      return std::pair(Choice{node->input(0), i == 2, *hidden}, node->input(3 - i));
  return std::nullopt;
}

std::optional<PaddingMask> padding_of(const Choice& choice) {
  const auto& dims = choice.condition->type.dims;
  if (!dims || dims->size() != 4) return std::nullopt;
  Value* keys = before_axes(choice.condition, dims->front(), dims->back());
  if (!keys || keys->type.dtype != DType::kBool) return std::nullopt;
  return PaddingMask{keys, choice.seen, choice.hidden};
}

std::optional<PaddingMask> padding_of(const Value* mask) {
  const auto choice = choice_of(mask);
  if (choice && is_zero(choice->second)) return padding_of(choice->first);
  const Node* product = choice ? nullptr : producer_of(mask, "Mul");
  for (const int i : {0, 1}) {
    const Node* rest = product ? producer_of(product->input(i), "Sub") : nullptr;
    const auto hidden = rest ? only_number(product->input(1 - i)) : std::nullopt;
    if (!hidden || *hidden > kHidden || only_number(rest->input(0)) != 1.0) continue;
    // Numbers that are 0 or 1 for sure.
    const Node* cast = producer_of(rest->input(1), "Cast");
    if (cast && cast->input(0)->type.dtype == DType::kBool) return padding_of(Choice{cast->input(0), true, *hidden});
  }
  return std::nullopt;
}

}  // namespace mlopt::fusion
