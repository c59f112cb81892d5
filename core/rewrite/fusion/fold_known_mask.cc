// Masks as exporters index them: rows of a matrix gathered by counting over both of its axes -> Reshape; a condition
// that always holds, joined to a mask that is then repeated, or repeated itself -> the mask, repeated.
#include <algorithm>

#include "core/ir/infer_types.h"
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/everywhere.h"
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// Is v, of one element, known to be this dimension?
bool is_length(const Value* v, const Dim& length) {
  if (v->symbolic && v->symbolic->size() == 1) return v->symbolic->front() == length;
  const auto number = only_number(v);
  return number && length.is(static_cast<int64_t>(*number));
}

/// index = rows * columns + place in the row, both counting along their own axes of `out`, rows first.
bool counts_over(const Node& sum, const SymDims& x, const Builder& builder) {
  for (const int i : {0, 1}) {
    const Node* product = sum.input(i)->producer;
    const Value* place = sum.input(1 - i);
    if (!product || !product->is("Mul") || !place->type.dims) continue;
    const auto column = counts_along(place, builder);
    if (!column || !((*place->type.dims)[*column] == x[1])) continue;
    for (const int k : {0, 1}) {
      const Value *row = product->input(k), *columns = product->input(1 - k);
      const auto axis = counts_along(row, builder);
      if (!axis || !is_length(columns, x[1]) || !((*row->type.dims)[*axis] == x[0])) continue;
      // Counted from the end, as broadcasting aligns them.
      if (row->type.dims->size() - *axis > place->type.dims->size() - *column) return true;
    }
  }
  return false;
}

Expected<Replacement> gathered(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto &in = x->type.dims, &flat = m.node("flat")->output(0)->type.dims, &out = m.root->output(0)->type.dims;
  if (builder.view(*m.root).get_int("axis", 0) != 0) return Decline{"another axis than the first is indexed"};
  if (!in || in->size() != 2 || !flat || flat->empty() || !out) return Decline{"the shapes are not known"};
  for (size_t i = 1; i < flat->size(); ++i)
    if (!(*flat)[i].is(1)) return Decline{"not a flattened matrix"};
  if (!counts_over(*m.node("index"), *in, builder)) return Decline{"the index does not count over the matrix"};
  const auto target = reshape_target(in, out);
  if (!target) return Decline{"the shape cannot be written as a constant"};
  return Replacement{make_reshape(builder, x, *target, m.root->output(0)->type)};
}

/// Does the root have the shape that its Expand, or that before it, asks for, whatever is expanded?
bool is_whole_shape(const Match& m) {
  const auto shape = dims_in(m.value("shape"));
  return shape && m.root->output(0)->type.dims == shape;
}

Expected<Replacement> joined(const Match& m, Builder& builder) {
  Value* other = beside_true(*m.node("both"), builder);
  if (!other) return Decline{"no condition always holds"};
  if (!is_whole_shape(m)) return Decline{"it may not be repeated over all axes"};
  return Replacement{builder.op("Expand", {other, m.value("shape")}, {}, m.root->output(0)->type)};
}

Expected<Replacement> alone(const Match& m, Builder& builder) {
  Value* other = beside_true(*m.root, builder);
  if (!other) return Decline{"no condition always holds"};
  const auto &x = other->type.dims, &out = m.root->output(0)->type.dims;
  return x && out && *x == *out ? Expected<Replacement>(Replacement{other}) : Decline{"it repeats the other"};
}

/// The other condition is repeated as far as the one that always holds.
Expected<Replacement> repeated(const Match& m, Builder& builder) {
  const Value* wide = m.node("wide")->output(0);
  const auto &dims = wide->type.dims, &out = m.root->output(0)->type.dims;
  if (!always_true(wide, builder)) return Decline{"no condition always holds"};
  if (!dims || !out || *dims != *out || !is_whole_shape(m)) return Decline{"the other may be repeated further"};
  return Replacement{builder.op("Expand", {m.value("c"), m.value("shape")}, {}, m.root->output(0)->type)};
}

/// The shape of Where(condition, x, y).
std::optional<SymDims> dims_by(const Value* condition, const Value* x, const Value* y) {
  return infer_rules::broadcast_dims(infer_rules::broadcast_dims(condition->type.dims, x->type.dims), y->type.dims);
}

/// What is chosen is as long as the condition that always holds, which the choice then needs no more.
Expected<Replacement> chosen(const Match& m, Builder& builder) {
  Value *other = beside_true(*m.node("both"), builder), *x = m.value("x"), *y = m.value("y");
  if (!other) return Decline{"no condition always holds"};
  const auto dims = dims_by(other, x, y);
  if (!dims || dims != m.root->output(0)->type.dims) return Decline{"it repeats what is chosen"};
  return Replacement{builder.op("Where", {other, x, y}, {}, m.root->output(0)->type)};
}

/// What is chosen is repeated by the sum that it goes into, as scores are that it is added to.
Expected<Replacement> added(const Match& m, Builder& builder) {
  Value *other = beside_true(*m.node("both"), builder), *x = m.value("x"), *y = m.value("y"),
        *scores = m.value("scores");
  if (!other) return Decline{"no condition always holds"};
  const Type& type = m.node("choice")->output(0)->type;
  const auto dims = dims_by(other, x, y);
  if (!dims || infer_rules::broadcast_dims(dims, scores->type.dims) != m.root->output(0)->type.dims)
    return Decline{"it repeats what it is added to"};
  Value* chosen = builder.op("Where", {other, x, y}, {}, Type::tensor(type.dtype, dims));
  return Replacement{builder.op("Add", {scores, chosen}, {}, m.root->output(0)->type)};
}

/// Scores that a mask leaves as they are: it hides nothing, as its condition always holds.
Expected<Replacement> unmasked(const Match& m, Builder& builder) {
  Value* scores = m.value("scores");
  if (!always_true(m.value("c"), builder)) return Decline{};
  if (only_number(m.value("x")) != 0.0) return Decline{"it adds other numbers than zero"};
  const auto &dims = scores->type.dims, &out = m.root->output(0)->type.dims;
  return dims && dims == out ? Expected<Replacement>(Replacement{scores}) : Decline{"it repeats what it is added to"};
}

/// Does the Slice take what lies from a place to another on this axis, and all of the others?
bool takes(const Node& slice, size_t axis, int64_t from, const Dim& end, const Builder& builder) {
  const NodeView view = builder.view(slice);
  const auto starts = view.ints("starts", 1), axes = view.ints("axes", 3, {0}), steps = view.ints("steps", 4, {1});
  const auto ends = dims_in(slice.input(2));
  const auto rank = static_cast<int64_t>(slice.input(0)->type.dims.value_or(SymDims()).size());
  return builder.opset() >= 10 && starts == std::vector<int64_t>{from} && ends && ends->size() == 1 &&
         ends->front() == end && steps == std::vector<int64_t>{1} && axes && axes->size() == 1 &&
         (axes->front() + rank) % std::max<int64_t>(rank, 1) == static_cast<int64_t>(axis);
}

/// Positions p that go up by one, x = [p[0] - 1, p...]: their steps x[1:] - x[:-1], by which exporters look for the
/// sequences that are packed into a row.
Expected<Replacement> stepped(const Match& m, Builder& builder) {
  const Node &later = *m.node("later"), &earlier = *m.node("earlier");
  const Node* all = later.input(0) == earlier.input(0) ? producer_of(later.input(0), "Concat") : nullptr;
  const Node* front = all && all->inputs().size() == 2 ? producer_of(all->input(0), "Sub") : nullptr;
  const Node* first = front && only_number(front->input(1)) == 1.0 ? producer_of(front->input(0), "Slice") : nullptr;
  Value* p = first ? all->input(1) : nullptr;
  if (!p || first->input(0) != p || !is_integer(p->type.dtype)) return Decline{};
  const auto count = count_of(p, builder);
  if (!count || !p->type.dims) return Decline{"the positions do not count"};
  const auto rank = static_cast<int64_t>(p->type.dims->size());
  const Dim& length = (*p->type.dims)[count->axis];
  if ((builder.view(*all).get_int("axis", 0) + rank) % rank != static_cast<int64_t>(count->axis) ||
      !takes(*first, count->axis, 0, 1, builder) || !takes(earlier, count->axis, 0, length, builder) ||
      !takes(later, count->axis, 1, length + 1, builder))
    return Decline{"not all steps"};
  Value* one = builder.constant("step", cast(Tensor::scalar(int64_t{1}), p->type.dtype));
  return Replacement{builder.op("Expand", {one, builder.op("Shape", {p})}, {}, p->type)};
}

std::vector<Rule> rules() {
  const auto both = [] { return Pattern::op("And", {Pattern::any(""), Pattern::any("")}).as("both"); };
  const auto choice = [&] { return Pattern::op("Where", {both(), Pattern::any("x"), Pattern::any("y")}); };
  Pattern mask = Pattern::op("Where", {Pattern::any("c"), Pattern::any("x"), Pattern::any("y")});
  const auto slice = [](const char* name) { return Pattern::op("Slice", {}).open().as(name); };
  Pattern flat = Pattern::op("Flatten|Reshape", {Pattern::any("x")}).open().as("flat");
  Pattern index = Pattern::op("Add", {Pattern::any("i"), Pattern::any("k")}).as("index");
  Pattern wide = Pattern::op("Expand", {Pattern::any("t"), Pattern::any("shape")}).as("wide");
  return {{Pattern::op("Gather", {std::move(flat), std::move(index)}), gathered},
          {Pattern::op("Expand", {both().single_use(), Pattern::any("shape")}), joined},
          {both(), alone},
          {choice(), chosen},
          {Pattern::op("Add", {std::move(mask), Pattern::any("scores")}).any_order(), unmasked},
          {Pattern::op("Add", {choice().as("choice"), Pattern::any("scores")}).any_order(), added},
          {Pattern::op("And", {std::move(wide), Pattern::any("c")}).any_order(), repeated},
          {Pattern::op("Sub", {slice("later"), slice("earlier")}), stepped}};
}

}  // namespace

const Pass fold_known_mask = {"fold_known_mask", "the parts of a mask that are the same whatever the input", rules};

}  // namespace mlopt::fusion
