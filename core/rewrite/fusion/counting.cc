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

const Node* producer_of(const Value* v, std::string_view op) {
  return v && v->producer && v->producer->is(op) ? v->producer : nullptr;
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

bool counts(const Tensor& t) {
  const std::vector<double> numbers = to_doubles(t);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<double>(i)) return false;
  return true;
}

bool is_constant(const Value* v, double number) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  return t && t->size() == 1 && number_at(*t, 0) == number;
}

/// Elements from the first one on, one after the other.
bool is_prefix(const NodeView& view) {
  const auto starts = view.ints("starts", 1), steps = view.ints("steps", 4, {1});
  return starts && starts->size() == 1 && starts->front() == 0 && steps && *steps == std::vector<int64_t>{1};
}

bool never_negative(const Value* v) {
  if (!v->producer) return false;
  if (v->producer->is("Shape")) return true;
  if (v->producer->is("Range")) return is_constant(v->producer->input(0), 0) && is_constant(v->producer->input(2), 1);
  return keeps_elements(*v->producer) && never_negative(v->producer->input(0));
}

}  // namespace

std::optional<size_t> counts_along(const Value* v, const Builder& builder) {
  const auto axis = long_axis(v);
  if (!axis) return std::nullopt;
  if (const Tensor* t = v->known_constant()) return counts(*t) ? axis : std::nullopt;
  if (const Node* range = producer_of(v, "Range"))
    return is_constant(range->input(0), 0) && is_constant(range->input(2), 1) ? axis : std::nullopt;
  if (const Node* slice = producer_of(v, "Slice"))
    return is_prefix(builder.view(*slice)) && counts_along(slice->input(0), builder) ? axis : std::nullopt;
  for (const char* op : {"Unsqueeze", "Squeeze", "Reshape", "Identity"})
    if (const Node* node = producer_of(v, op)) return counts_along(node->input(0), builder) ? axis : std::nullopt;
  return std::nullopt;
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

}  // namespace mlopt::fusion
