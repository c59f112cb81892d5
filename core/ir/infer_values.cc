#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "core/base/checked.h"
#include "core/ir/infer_types.h"
#include "core/ir/size_arithmetic.h"
#include "core/ir/slice_span.h"
#include "core/tensor/cast.h"
#include "core/tensor/dim_product.h"

namespace mlopt::infer_rules {
namespace {

using Elements = std::optional<std::vector<Dim>>;
using Rule = Elements (*)(const NodeView&);

bool counts(DType type) { return type == DType::kI64 || type == DType::kI32 || type == DType::kBool; }

/// A scalar or vector: what lies in more axes is not a row of elements.
bool is_row(const Value* value) { return value && value->type.dims && value->type.dims->size() <= 1; }

Elements same(const NodeView& view) { return elements(view.node().input(0)); }

Elements size_of(const NodeView& view) {
  const Value* x = view.node().input(0);
  if (!x || !x->type.dims) return std::nullopt;
  return std::vector<Dim>{product(*x->type.dims)};
}

Elements gather(const NodeView& view) {
  const Elements data = elements(view.node().input(0));
  const Tensor* indices = view.constant(1);
  const Value* source = view.node().input(0);
  if (!data || !indices || !source->type.dims || source->type.dims->size() != 1) return std::nullopt;
  if (indices->size() > kMostElements) return std::nullopt;
  std::vector<Dim> picked;
  for (int64_t i : to_ints(*indices)) {
    if (i < 0) i += static_cast<int64_t>(data->size());
    if (i < 0 || i >= static_cast<int64_t>(data->size())) return std::nullopt;
    picked.push_back((*data)[static_cast<size_t>(i)]);
  }
  return picked;
}

Elements concat(const NodeView& view) {
  std::vector<Dim> all;
  for (const Value* v : view.node().inputs()) {
    const Elements part = elements(v);
    if (!part || !v->type.dims || v->type.dims->size() != 1) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  if (all.size() > kMostElements) return std::nullopt;
  return all;
}

/// What the input, or the attribute of opsets before it, says; also where the input is computed from what is known.
std::optional<std::vector<int64_t>> numbers(const NodeView& view, std::string_view attr, int input) {
  auto given = view.ints(attr, input);
  if (given) return given;
  const Elements computed = elements(view.node().input(input));
  if (!computed) return std::nullopt;
  given.emplace();
  for (const Dim& d : *computed) {
    if (!d.value()) return std::nullopt;
    given->push_back(*d.value());
  }
  return given;
}

Elements slice(const NodeView& view) {
  const Elements data = elements(view.node().input(0));
  const auto starts = numbers(view, "starts", 1), ends = numbers(view, "ends", 2);
  const auto steps = view.opset() >= 10 ? view.ints("", 4, {1}) : std::vector<int64_t>{1};
  if (!data || !is_row(view.node().input(0)) || !starts || !ends || !steps) return std::nullopt;
  if (starts->size() != 1 || ends->size() != 1 || steps->size() != 1) return std::nullopt;
  if ((*steps)[0] == 0) return std::nullopt;
  const SliceSpan span = slice_span(static_cast<int64_t>(data->size()), (*starts)[0], (*ends)[0], (*steps)[0]);
  std::vector<Dim> out;
  for (int64_t i = 0; i < span.count; ++i) out.push_back((*data)[static_cast<size_t>(span.first + i * span.step)]);
  return out;
}

/// Does the number exist in the type? Sizes that are not known fit any integer.
bool fits(const Dim& d, DType type) {
  const auto v = d.value();
  if (type == DType::kBool) return v && (*v == 0 || *v == 1);
  return type != DType::kI32 || !v || *v == static_cast<int32_t>(*v);
}

Elements combined(std::string_view op, const Elements& a, const Elements& b) {
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
  std::vector<Dim> out;
  for (size_t i = 0, count = a->size() == 1 ? b->size() : a->size(); i < count; ++i)
    out.push_back(combine(op, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  return out;
}

Elements arithmetic(const NodeView& view) {
  const Node& node = view.node();
  if (node.inputs().size() != 2 || !is_row(node.input(0)) || !is_row(node.input(1))) return std::nullopt;
  return combined(node.op, elements(node.input(0)), elements(node.input(1)));
}

/// Of sizes in floats, as tf2onnx writes what its runtime lacked for integers: Cast of these, whole constants, and Max
/// of both.
Elements whole_floats(const Value* value, bool inside = false) {
  constexpr double kMost = 1LL << 53;
  if (!value || !is_row(value) || (value->type.dtype != DType::kF32 && value->type.dtype != DType::kF64))
    return std::nullopt;
  if (const Tensor* t = value->known_constant()) {
    if (t->size() > kMostElements) return std::nullopt;
    std::vector<Dim> out;
    for (const double d : to_doubles(*t)) {
      if (!(std::abs(d) <= kMost) || d != std::floor(d)) return std::nullopt;
      out.emplace_back(static_cast<int64_t>(d));
    }
    return out;
  }
  const Node* node = value->producer;
  if (node && node->is("Cast") && counts(node->input(0)->type.dtype)) return elements(node->input(0));
  if (inside || !node || !node->is("Max") || node->inputs().size() != 2) return std::nullopt;
  return combined("Max", whole_floats(node->input(0), true), whole_floats(node->input(1), true));
}

Elements cast(const NodeView& view) { return whole_elements(view.node().input(0)); }

Elements negated(const NodeView& view) {
  Elements x = elements(view.node().input(0));
  if (!x) return std::nullopt;
  for (Dim& d : *x) d = d.value() ? Dim(*d.value() == 0) : Dim();
  return x;
}

Elements where(const NodeView& view) {
  const Node& node = view.node();
  const Elements c = elements(node.input(0)), a = elements(node.input(1)), b = elements(node.input(2));
  if (!c || !a || !b || !std::all_of(node.inputs().begin(), node.inputs().end(), is_row)) return std::nullopt;
  const size_t n = std::max({c->size(), a->size(), b->size()});
  std::vector<Dim> out;
  for (size_t i = 0; i < n; ++i) {
    const auto pick = [&](const std::vector<Dim>& v) { return v.size() == 1 ? v[0] : i < v.size() ? v[i] : Dim(); };
    const auto chosen = pick(*c).value();
    out.push_back(!chosen ? Dim() : *chosen ? pick(*a) : pick(*b));
  }
  return out;
}

Elements constant_of_shape(const NodeView& view) {
  const Elements shape = elements(view.node().input(0));
  if (!shape || shape->size() > 1) return std::nullopt;
  const auto count = shape->empty() ? std::optional<int64_t>(1) : (*shape)[0].value();
  if (!count || *count < 0 || *count > kMostElements) return std::nullopt;
  const Tensor* value = view.get_tensor("value");
  if (!value || value->size() != 1 || !counts(value->dtype())) return std::nullopt;
  return std::vector<Dim>(static_cast<size_t>(*count), Dim(to_ints(*value)[0]));
}

Elements range(const NodeView& view) {
  const auto start = numbers(view, "", 0), limit = numbers(view, "", 1), step = numbers(view, "", 2);
  if (!start || !limit || !step || start->size() != 1 || limit->size() != 1 || step->size() != 1) return std::nullopt;
  const int64_t first = start->front(), end = limit->front(), delta = step->front();
  if (delta == 0) return std::nullopt;
  std::vector<Dim> out;
  for (std::optional<int64_t> i = first; i && (delta > 0 ? *i < end : *i > end); i = checked_add(*i, delta)) {
    if (out.size() == kMostElements) return std::nullopt;
    out.emplace_back(*i);
  }
  return out;
}

Elements reduce_prod(const NodeView& view) {
  const Elements data = elements(view.node().input(0));
  if (!data || !is_row(view.node().input(0)) || view.get_int("noop_with_empty_axes", 0) != 0) return std::nullopt;
  return std::vector<Dim>{product(*data)};
}

const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> kRules = {
      {"Add", arithmetic},
      {"Sub", arithmetic},
      {"Mul", arithmetic},
      {"Div", arithmetic},
      {"Mod", arithmetic},
      {"Min", arithmetic},
      {"Max", arithmetic},
      {"Equal", arithmetic},
      {"Less", arithmetic},
      {"LessOrEqual", arithmetic},
      {"Greater", arithmetic},
      {"GreaterOrEqual", arithmetic},
      {"And", arithmetic},
      {"Or", arithmetic},
      {"Not", negated},
      {"Where", where},
      {"Shape", shape_elements},
      {"Size", size_of},
      {"Range", range},
      {"Gather", gather},
      {"Concat", concat},
      {"Slice", slice},
      {"Identity", same},
      {"Cast", cast},
      {"Unsqueeze", same},
      {"Squeeze", same},
      {"Reshape", same},
      {"Flatten", same},
      {"ReduceProd", reduce_prod},
      {"ConstantOfShape", constant_of_shape},
  };
  return kRules;
}

}  // namespace

std::optional<std::vector<Dim>> shape_elements(const NodeView& view) {
  const Value* x = view.node().input(0);
  if (!x || !x->type.dims) return std::nullopt;
  const SymDims& dims = *x->type.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const auto clamp = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t start = clamp(view.get_int("start", 0)), end = clamp(view.get_int("end", rank));
  if (start >= end) return std::vector<Dim>{};
  return std::vector<Dim>(dims.begin() + start, dims.begin() + end);
}

Elements elements(const Value* value) {
  if (!value) return std::nullopt;
  const Tensor* t = value->known_constant();
  if (!t) return value->symbolic;
  if (!counts(t->dtype()) || t->size() > kMostElements) return std::nullopt;
  std::vector<Dim> out;
  for (const int64_t v : to_ints(*t)) out.emplace_back(v);
  return out;
}

Elements whole_elements(const Value* value) {
  return value && is_float(value->type.dtype) ? whole_floats(value) : elements(value);
}

Elements output_elements(const NodeView& view) {
  const Value* y = view.node().output(0);
  if (!y || !view.node().domain.empty() || !y->type.is_tensor() || !counts(y->type.dtype)) return std::nullopt;
  const auto it = rules().find(view.node().op);
  if (it == rules().end()) return std::nullopt;
  Elements found = it->second(view);
  if (found && static_cast<int64_t>(found->size()) > kMostElements) return std::nullopt;
  if (found)
    for (Dim& d : *found)
      if (!fits(d, y->type.dtype)) d = Dim();
  return found;
}

}  // namespace mlopt::infer_rules
