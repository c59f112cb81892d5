#include "core/rewrite/fusion/counting.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// The only axis that is longer than 1, or may be; nothing where there are several, or none.
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

/// What Range begins at, also in floats.
std::optional<Dim> start_in(const Value* v) {
  const Tensor* t = v->known_constant();
  return t && t->size() == 1 ? first_of(*t) : dim_in(v);
}

using Counted = std::optional<Count>;

Counted of_range(const Node& range, const Builder&) {
  const auto from = is_constant(range.input(2), 1) ? start_in(range.input(0)) : std::nullopt;
  return from ? Counted({0, *from}) : std::nullopt;
}

/// Of neighbours, wherever they begin.
Counted of_slice(const Node& slice, const Builder& builder) {
  const NodeView view = builder.view(slice);
  const auto given = view.ints("starts", 1), axes = view.ints("axes", 3), steps = view.ints("steps", 4);
  const auto starts = given ? std::optional(SymDims(given->begin(), given->end())) : dims_in(slice.input(1));
  auto count = count_of(slice.input(0), builder);
  if (!count || !starts || (!axes && slice.input(3)) || (!steps && slice.input(4))) return std::nullopt;
  const auto rank = static_cast<int64_t>(slice.input(0)->type.dims->size());
  const Dim inner = count->from;
  for (size_t i = 0; i < starts->size(); ++i) {
    const int64_t axis = axes && i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis != static_cast<int64_t>(count->axis) && axis + rank != static_cast<int64_t>(count->axis)) continue;
    const Dim& start = (*starts)[i];
    if ((steps && i < steps->size() && (*steps)[i] != 1) || start.value().value_or(0) < 0) return std::nullopt;
    // A start that is no number is not negative where it turns out to be the length of something.
    if (!start.value() && !inner.is(0)) return std::nullopt;
    count->from = count->from + start;
  }
  return count;
}

/// With a number added, or taken away.
Counted of_sum(const Node& sum, const Builder& builder) {
  for (const int i : {1, 0}) {
    const auto offset = i == 1 || sum.is("Add") ? dim_in(sum.input(i)) : std::nullopt;
    const Value* counted = sum.input(1 - i);
    auto count = offset ? count_of(counted, builder) : std::nullopt;
    if (!count || !counted->type.dims || sum.input(i)->type.dims.value_or(SymDims()).size() > 1) continue;
    count->from = sum.is("Add") ? count->from + *offset : count->from - *offset;
    return count;
  }
  return std::nullopt;
}

/// How many ones come before each, along the only axis.
Counted of_cumulative_sum(const Node& sum, const Builder& builder) {
  const NodeView view = builder.view(sum);
  const auto& dims = sum.output(0)->type.dims;
  const bool before = view.get_int("exclusive", 0) != 0 && view.get_int("reverse", 0) == 0;
  return before && dims && dims->size() == 1 && only_number(sum.input(0)) == 1.0 ? Counted({0, 0}) : std::nullopt;
}

/// With axes of length 1 added, or taken away.
Counted of_other_axes(const Node& node, const Builder& builder) {
  auto count = count_of(node.input(0), builder);
  const auto &in = node.input(0)->type.dims, &out = node.output(0)->type.dims;
  if (!count || !in || !out) return std::nullopt;
  if (long_axis(node.input(0)) == count->axis)
    if (const auto axis = long_axis(node.output(0))) return Counted({*axis, count->from});
  const bool added = node.is("Unsqueeze");
  auto axes = added || node.is("Squeeze") ? builder.view(node).ints("axes", 1) : std::nullopt;
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes) axis += axis < 0 ? static_cast<int64_t>((added ? out : in)->size()) : 0;
  std::sort(axes->begin(), axes->end());
  const auto place = static_cast<int64_t>(count->axis);
  if (added)
    for (const int64_t axis : *axes) count->axis += axis <= static_cast<int64_t>(count->axis) ? 1 : 0;
  else
    for (const int64_t axis : *axes) count->axis -= axis < place ? 1 : 0;
  return count;
}

/// Repeated along other axes.
Counted of_expand(const Node& expand, const Builder& builder) {
  auto count = count_of(expand.input(0), builder);
  const auto &in = expand.input(0)->type.dims, &out = expand.output(0)->type.dims;
  if (!count || !in || !out || out->size() < in->size()) return std::nullopt;
  const size_t axis = count->axis + out->size() - in->size();
  return (*in)[count->axis] == (*out)[axis] ? Counted({axis, count->from}) : std::nullopt;
}

/// Of parts each of which goes on where the one before it ends.
Counted of_parts(const Node& concat, const Builder& builder) {
  const auto& dims = concat.output(0)->type.dims;
  if (!dims) return std::nullopt;
  const int64_t given = builder.view(concat).get_int("axis", 0);
  const auto axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(dims->size()) : given);
  std::optional<Dim> from;
  Dim next;
  for (const Value* part : concat.inputs()) {
    const auto count = count_of(part, builder);
    if (!count || count->axis != axis || !part->type.dims || (from && !(count->from == next))) return std::nullopt;
    if (!from) from = count->from;
    next = count->from + (*part->type.dims)[axis];
  }
  return from ? Counted({axis, *from}) : std::nullopt;
}

struct Rule {
  const char* op;
  Counted (*count)(const Node&, const Builder&);
};

constexpr Rule kRules[] = {
    {"Range", of_range},
    {"Slice", of_slice},
    {"Add", of_sum},
    {"Sub", of_sum},
    {"CumSum", of_cumulative_sum},
    {"Unsqueeze", of_other_axes},
    {"Squeeze", of_other_axes},
    {"Reshape", of_other_axes},
    {"Identity", of_other_axes},
    {"Expand", of_expand},
    {"Concat", of_parts},
};

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

bool keeps_elements(const Node& node) {
  for (const char* op : {"Unsqueeze", "Squeeze", "Reshape", "Expand", "Slice", "Identity", "Flatten", "Tile"})
    if (node.is(op)) return true;
  return false;
}

std::optional<Count> count_in(const Tensor& t) {
  if (t.size() < 2 || t.size() > kMostNumbers || t.dtype() == DType::kString) return std::nullopt;
  const std::vector<double> numbers = to_doubles(t);
  if (numbers[0] != std::floor(numbers[0]) || std::abs(numbers[0]) > kMostNumbers) return std::nullopt;
  auto stride = static_cast<size_t>(t.size());
  for (size_t axis = 0; axis < t.dims().size(); ++axis) {
    const auto length = static_cast<size_t>(t.dims()[axis]);
    stride /= length;
    if (length == 1 || numbers[stride] != numbers[0] + 1) continue;
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != numbers[0] + static_cast<double>(i / stride % length)) return std::nullopt;
    return Count{axis, Dim(static_cast<int64_t>(numbers[0]))};
  }
  return std::nullopt;
}

std::optional<Count> count_of(const Value* v, const Builder& builder) {
  if (const Tensor* t = v->known_constant()) return count_in(*t);
  for (const Rule& rule : kRules)
    if (const Node* node = producer_of(v, rule.op)) return v->type.dims ? rule.count(*node, builder) : std::nullopt;
  return std::nullopt;
}

std::optional<size_t> counts_along(const Value* v, const Builder& builder) {
  const auto count = count_of(v, builder);
  return count && count->from.is(0) && long_axis(v) == count->axis ? std::optional(count->axis) : std::nullopt;
}

std::optional<double> only_number(const Tensor& t) {
  if (t.size() == 0 || t.size() > kMostNumbers) return std::nullopt;
  const std::vector<double> numbers = to_doubles(t);
  const bool one = std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == numbers.front(); });
  return one ? std::optional(numbers.front()) : std::nullopt;
}

std::optional<double> only_number(const Value* v) {
  if (const Tensor* t = v->known_constant()) return only_number(*t);
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
