#include "core/rewrite/fusion/counting.h"

#include <algorithm>

#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// Operators that neither make nor change elements of input 0.
bool keeps_elements(const Node& node) {
  for (const char* op : {"Unsqueeze", "Squeeze", "Reshape", "Expand", "Slice", "Identity", "Flatten", "Tile"})
    if (node.is(op)) return true;
  return false;
}

/// The axis that is longer than 1, or the last one where none is known to be.
std::optional<size_t> long_axis(const Value* v) {
  if (!v->type.dims) return std::nullopt;
  std::optional<size_t> found;
  for (size_t i = 0; i < v->type.dims->size(); ++i) {
    if ((*v->type.dims)[i].is(1)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

/// The first element where the others follow it one by one.
std::optional<Dim> first_of(const Tensor& t) {
  const std::vector<double> numbers = to_doubles(t);
  if (numbers.empty() || numbers[0] != static_cast<double>(static_cast<int64_t>(numbers[0]))) return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != numbers[0] + static_cast<double>(i)) return std::nullopt;
  return Dim(static_cast<int64_t>(numbers[0]));
}

bool is_constant(const Value* v, double number) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  return t && t->size() == 1 && number_at(*t, 0) == number;
}

/// Where a Slice of neighbours along one axis begins.
std::optional<Dim> start_of(const Node& slice, const Builder& builder) {
  const NodeView view = builder.view(slice);
  const auto steps = view.ints("steps", 4, {1}), given = view.ints("starts", 1);
  if (!steps || *steps != std::vector<int64_t>{1}) return std::nullopt;
  const auto starts = given ? std::optional(SymDims(given->begin(), given->end())) : dims_in(slice.input(1));
  if (!starts || starts->size() != 1 || starts->front().value().value_or(0) < 0) return std::nullopt;
  return starts->front();
}

/// What Range begins at, also in floats.
std::optional<Dim> start_in(const Value* v) {
  const Tensor* t = v->known_constant();
  return t && t->size() == 1 ? first_of(*t) : dim_in(v);
}

/// Where v counts from: what is counted, and what is added to it.
std::optional<Dim> from_of(const Value* v, const Builder& builder) {
  if (const Tensor* t = v->known_constant()) return first_of(*t);
  if (const Node* range = producer_of(v, "Range"))
    return is_constant(range->input(2), 1) ? start_in(range->input(0)) : std::nullopt;
  if (const Node* slice = producer_of(v, "Slice")) {
    const auto start = start_of(*slice, builder);
    const auto inner = start ? count_of(slice->input(0), builder) : std::nullopt;
    // A start that is no number is not negative where it turns out to be the length of something.
    return inner && (start->value() || inner->from.is(0)) ? std::optional(inner->from + *start) : std::nullopt;
  }
  if (const Node* sum = producer_of(v, "Add"))
    for (const int i : {0, 1})
      if (const auto offset = dim_in(sum->input(i)))
        if (const auto count = count_of(sum->input(1 - i), builder)) return count->from + *offset;
  // How many ones come before each, along the only axis.
  if (const Node* sum = producer_of(v, "CumSum")) {
    const NodeView view = builder.view(*sum);
    const bool before = view.get_int("exclusive", 0) != 0 && view.get_int("reverse", 0) == 0;
    return before && v->type.dims->size() == 1 && only_number(sum->input(0)) == 1.0 ? std::optional(Dim(0))
                                                                                    : std::nullopt;
  }
  for (const char* op : {"Unsqueeze", "Squeeze", "Reshape", "Identity"})
    if (const Node* node = producer_of(v, op)) {
      const auto count = count_of(node->input(0), builder);
      return count ? std::optional(count->from) : std::nullopt;
    }
  return std::nullopt;
}

bool never_negative(const Value* v) {
  if (!v->producer) return false;
  if (v->producer->is("Shape")) return true;
  if (v->producer->is("Range")) return is_constant(v->producer->input(0), 0) && is_constant(v->producer->input(2), 1);
  return keeps_elements(*v->producer) && never_negative(v->producer->input(0));
}

}  // namespace

std::optional<SymDims> dims_in(const Value* v) {
  if (!v) return std::nullopt;
  const Tensor* t = v->known_constant();
  if (!t) return v->symbolic;
  constexpr int64_t kMost = 16;
  if (is_float(t->dtype()) || t->dtype() == DType::kString || t->size() > kMost) return std::nullopt;
  const std::vector<int64_t> list = to_ints(*t);
  return SymDims(list.begin(), list.end());
}

std::optional<Dim> dim_in(const Value* v) {
  const auto list = dims_in(v);
  return list && list->size() == 1 && list->front().known() ? std::optional(list->front()) : std::nullopt;
}

std::optional<Count> count_of(const Value* v, const Builder& builder) {
  const auto axis = long_axis(v);
  const auto from = axis ? from_of(v, builder) : std::nullopt;
  return from ? std::optional(Count{*axis, *from}) : std::nullopt;
}

std::optional<size_t> counts_along(const Value* v, const Builder& builder) {
  const auto count = count_of(v, builder);
  return count && count->from.is(0) ? std::optional(count->axis) : std::nullopt;
}

std::optional<double> only_number(const Value* v) {
  if (const Tensor* t = v->known_constant()) {
    constexpr int64_t kMost = 1 << 20;
    if (t->size() == 0 || t->size() > kMost) return std::nullopt;
    const std::vector<double> numbers = to_doubles(*t);
    const bool one = std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == numbers.front(); });
    return one ? std::optional(numbers.front()) : std::nullopt;
  }
  const Node* node = v->producer;
  if (!node) return std::nullopt;
  if (node->is("ConstantOfShape")) {
    const Attr* value = node->attr("value");
    const auto* t = value ? std::get_if<Tensor>(&value->value) : nullptr;
    return t ? number_at(*t, 0) : 0.0;
  }
  if (node->is("Concat")) {
    const auto first = only_number(node->input(0));
    const auto same = [&](const Value* part) { return only_number(part) == first; };
    return first && std::all_of(node->inputs().begin(), node->inputs().end(), same) ? first : std::nullopt;
  }
  if (keeps_elements(*node) || node->is("Gather") || node->is("GatherElements")) return only_number(node->input(0));
  return std::nullopt;
}

bool always_true(const Value* v) {
  const Node* node = v->producer;
  if (v->known_constant()) return only_number(v) == 1.0;
  if (!node) return false;
  if (node->is("And")) return always_true(node->input(0)) && always_true(node->input(1));
  if (node->is("GreaterOrEqual")) {
    const auto least = only_number(node->input(1));
    return least && *least <= 0 && never_negative(node->input(0));
  }
  return (keeps_elements(*node) || node->is("ConstantOfShape")) && only_number(v) == 1.0;
}

Value* beside_true(const Node& both) {
  for (const int i : {0, 1})
    if (always_true(both.input(i))) return both.input(1 - i);
  return nullptr;
}

}  // namespace mlopt::fusion
