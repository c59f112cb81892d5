// Which keys come after a query: as masks that are added, conditions and triangles say it.
#include "core/rewrite/fusion/order.h"

#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/everywhere.h"
#include "core/rewrite/fusion/mask.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

bool is_dim(const Value* v, const Dim& wanted) {
  const auto dim = dim_in(v);
  return dim && *dim == wanted;
}

/// Of a matrix whose elements count on from 0, row after row: the number of each element's column, or of its row.
bool counts_in_matrix(const Value* v, size_t from_end, const Builder& builder) {
  const Node* node = producer_of(v, from_end == 1 ? "Mod" : "Div");
  const Node* matrix = node && is_integer(v->type.dtype) ? producer_of(node->input(0), "Reshape") : nullptr;
  const auto& dims = matrix ? matrix->output(0)->type.dims : std::nullopt;
  return dims && dims->size() == 2 && is_dim(node->input(1), dims->back()) &&
         counts_along(matrix->input(0), builder) == 0;
}

/// Does v count, from `first` on, along the axis that is `from_end` axes before the end?
bool counts_at(const Value* v, size_t from_end, const Dim& first, const Builder& builder) {
  if (first.is(0) && counts_in_matrix(v, from_end, builder)) return true;
  const auto count = count_of(v, builder);
  return count && count->from == first && count->axis + from_end == v->type.dims->size();
}

/// Of a constant [1, ..., n, past + n]: `wanted` of the number and whether its key comes after its row, everywhere.
template <class Wanted>
bool everywhere(const Tensor& t, const Dim& past, Wanted wanted) {
  constexpr int64_t kMost = 1 << 22;
  if (t.rank() < 2 || t.size() > kMost || t.size() == 0 || !past.value()) return false;
  const int64_t rows = t.dim(t.rank() - 2), keys = t.dim(t.rank() - 1), before = *past.value();
  if (keys != rows + before || t.size() != rows * keys) return false;
  const std::vector<double> numbers = to_doubles(t);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < keys; ++k)
      if (!wanted(numbers[static_cast<size_t>(i * keys + k)], k > before + i)) return false;
  return true;
}

/// A value, and how many keys come before its first row.
struct Corner {
  const Value* value = nullptr;
  Dim past;
};

/// What has the same numbers where v, with `past` keys before its first row, has any: before a Slice that leaves rows
/// at the beginning out and keys at the end, or axes of length 1 in front.
Corner corner_of(const Node& node, const Dim& past, const Builder& builder) {
  const NodeView view = builder.view(node);
  const auto &in = node.input(0)->type.dims, &out = node.output(0)->type.dims;
  if (node.is("Slice") && builder.opset() >= 10) {
    const auto starts = dims_in(node.input(1));
    const auto axes = view.ints("axes", 3), steps = view.ints("steps", 4, {1});
    if (!in || !starts || !steps || std::any_of(steps->begin(), steps->end(), [](int64_t x) { return x != 1; }))
      return {};
    const auto rank = static_cast<int64_t>(in->size());
    Corner corner{node.input(0), past};
    for (size_t i = 0; i < starts->size(); ++i) {
      if ((*starts)[i].is(0)) continue;
      const int64_t axis = axes && i < axes->size() ? (*axes)[i] : -1;
      if (axis != rank - 2 && axis != -2) return {};
      corner.past = corner.past - (*starts)[i];
    }
    return corner;
  }
  if (!node.is("Unsqueeze") && !node.is("Reshape")) return {};
  const bool same =
      in && out && in->size() >= 2 && out->size() >= 2 && std::equal(in->end() - 2, in->end(), out->end() - 2);
  return same ? Corner{node.input(0), past} : Corner{};
}

/// Trilu of nothing but ones.
bool is_order_of_ones(const Node& node, bool after, const Dim& past, const Builder& builder) {
  if (only_number(node.input(0)) != 1.0) return false;
  const bool upper = builder.view(node).get_int("upper", 1) != 0;
  const Dim diagonal = after ? past + 1 : past;
  return upper == after && (node.input(1) ? is_dim(node.input(1), diagonal) : diagonal.is(0));
}

bool is_comparison(const Node& node, bool after, const Dim& past, const Builder& builder) {
  if (node.inputs().size() != 2) return false;
  if (const Node* difference = producer_of(node.input(0), "Sub"); difference && only_number(node.input(1)) == 0.0)
    return node.op == (after ? "Greater" : "LessOrEqual") && is_signed(difference->output(0)->type.dtype) &&
           counts_at(difference->input(0), 1, 0, builder) && counts_at(difference->input(1), 2, past, builder);
  const bool keys_first = node.op == (after ? "Greater" : "LessOrEqual");
  const bool rows_first = node.op == (after ? "Less" : "GreaterOrEqual");
  if (!keys_first && !rows_first) return false;
  const Value *keys = node.input(keys_first ? 0 : 1), *rows = node.input(keys_first ? 1 : 0);
  return counts_at(keys, 1, 0, builder) && counts_at(rows, 2, past, builder);
}

/// The bound that a comparison of the place of the key with that of the query sets, key > query - bound.
std::optional<int64_t> bound_in(const Node& node, const Dim& past, const Builder& builder) {
  const bool keys_first = node.op.starts_with("Greater"), or_equal = node.op.ends_with("OrEqual");
  if (node.inputs().size() != 2 || (!keys_first && !node.op.starts_with("Less"))) return std::nullopt;
  const Value *keys = node.input(keys_first ? 0 : 1), *rows = node.input(keys_first ? 1 : 0);
  const auto count = counts_at(keys, 1, 0, builder) ? count_of(rows, builder) : std::nullopt;
  const auto before = count && count->axis + 2 == rows->type.dims->size() ? (past - count->from).value() : std::nullopt;
  return before ? std::optional(*before + (or_equal ? 1 : 0)) : std::nullopt;
}

/// What the conditions that And joins say of keys.
struct Sight {
  bool ordered = false;           ///< none after the query's own
  std::optional<int64_t> window;  ///< none so far before it, or farther
};

/// False where they say something else.
bool look(const Value* condition, const Dim& past, const Builder& builder, Sight& sight) {
  if (always_true(condition, builder)) return true;
  const Node* node = condition->producer;
  if (node && node->is("And"))
    return look(node->input(0), past, builder, sight) && look(node->input(1), past, builder, sight);
  if (is_order(condition, false, past, builder)) return sight.ordered = true;
  const auto bound = node && node->domain.empty() ? bound_in(*node, past, builder) : std::nullopt;
  if (bound) sight.window = std::min(*bound, sight.window.value_or(*bound));
  return bound.has_value();
}

bool is_hidden(const Value* v) {
  const auto number = only_number(v);
  return number && *number <= kHidden;
}
bool is_zero(const Value* v) { return only_number(v) == 0.0; }

/// Is it 1 in the places that is_order() names, and 0 in the others?
bool is_ones(const Value* v, bool after, const Dim& past, const Builder& builder) {
  if (const Tensor* t = v->known_constant())
    return everywhere(*t, past, [after](double x, bool later) { return x == (later == after ? 1 : 0); });
  const Node* node = v->producer;
  if (!node || !node->domain.empty()) return false;
  if (node->op == "Trilu") return is_order_of_ones(*node, after, past, builder);
  const Corner inner = node->op == "Cast" ? Corner{node->input(0), past} : corner_of(*node, past, builder);
  if (!inner.value) return false;
  return inner.value->type.dtype == DType::kBool ? is_order(inner.value, after, inner.past, builder)
                                                 : is_ones(inner.value, after, inner.past, builder);
}

/// Hidden numbers above the diagonal.
bool is_triangle(const Node& node, const Dim& past, const Builder& builder) {
  const bool upper = builder.view(node).get_int("upper", 1) != 0;
  return upper && is_hidden(node.input(0)) && is_dim(node.input(1), past + 1);
}

/// A product of a hidden number and of ones for the keys that come later.
bool is_scaled(const Node& node, const Dim& past, const Builder& builder) {
  for (const int i : {0, 1}) {
    if (!is_hidden(node.input(1 - i))) continue;
    const Value* factor = node.input(i);
    const Node *cast = producer_of(factor, "Cast"), *rest = producer_of(factor, "Sub");
    if (cast && cast->input(0)->type.dtype == DType::kBool && is_order(cast->input(0), true, past, builder))
      return true;
    if (rest && only_number(rest->input(0)) == 1.0 && is_ones(rest->input(1), false, past, builder)) return true;
    if (is_ones(factor, true, past, builder)) return true;
  }
  return false;
}

bool hides_later(const Value* mask, const Dim& past, const Builder& builder) {
  if (const Tensor* t = mask->known_constant())
    return everywhere(*t, past, [](double x, bool later) { return later ? x <= kHidden : x == 0; });
  const Node* node = mask->producer;
  if (!node || !node->domain.empty()) return false;
  if (node->is("Mul") && is_scaled(*node, past, builder)) return true;
  if (node->is("Where")) {
    const Value *yes = node->input(1), *no = node->input(2);
    if (is_zero(yes) && is_hidden(no)) return is_order(node->input(0), false, past, builder);
    if (is_hidden(yes) && is_zero(no)) return is_order(node->input(0), true, past, builder);
  }
  if (node->is("Trilu")) return is_triangle(*node, past, builder);
  if (!node->is("Unsqueeze") && !node->is("Cast") && !node->is("Slice")) return false;
  const Corner inner = node->is("Cast") ? Corner{node->input(0), past} : corner_of(*node, past, builder);
  return inner.value && hides_later(inner.value, inner.past, builder);
}

}  // namespace

bool is_order(const Value* v, bool after, const Dim& past, const Builder& builder) {
  if (const Tensor* t = v->known_constant())
    return everywhere(*t, past, [after](double x, bool later) { return (x != 0) == (later == after); });
  const Node* node = v->producer;
  if (!node || !node->domain.empty()) return false;
  if (node->op == "Not") return is_order(node->input(0), !after, past, builder);
  if (node->op == "Cast") return is_order(node->input(0), after, past, builder);
  if (node->op == "Equal" && only_number(node->input(1)) == 0.0) return is_order(node->input(0), !after, past, builder);
  if (node->op == "Trilu") return is_order_of_ones(*node, after, past, builder);
  if (const Value* other = node->op == "And" ? beside_true(*node, builder) : nullptr)
    return is_order(other, after, past, builder);
  if (const Corner inner = corner_of(*node, past, builder); inner.value)
    return is_order(inner.value, after, inner.past, builder);
  return is_comparison(*node, after, past, builder);
}

std::optional<int64_t> window_in(const Value* condition, const Dim& past, const Builder& builder) {
  Sight sight;
  const bool known = look(condition, past, builder, sight) && sight.ordered && sight.window.value_or(0) > 0;
  return known ? sight.window : std::nullopt;
}

bool is_causal(const Value* mask, const Dim& past, const Builder& builder) {
  const auto& dims = mask->type.dims;
  if (!dims || dims->size() < 2 || !(dims->back() == (*dims)[dims->size() - 2] + past)) return false;
  return hides_later(mask, past, builder);
}

}  // namespace mlopt::fusion
