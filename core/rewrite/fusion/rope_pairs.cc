#include "core/rewrite/fusion/rope_pairs.h"

#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// Which element of each pair `v` is, and of what.
struct Side {
  Value* of = nullptr;  ///< null: it is no such thing
  int64_t element = 0;
};

/// x[..., element::2].
Side sliced(const Value* v, const Builder& builder) {
  const Node* node = producer_of(v, "Slice");
  if (!node || builder.opset() < 10 || !node->input(0)->type.dims) return {};
  const SymDims& dims = *node->input(0)->type.dims;
  const NodeView view = builder.view(*node);
  const auto starts = view.ints("starts", 1), axes = view.ints("axes", 3), steps = view.ints("steps", 4, {1});
  const bool known = starts && axes && steps && starts->size() == 1 && axes->size() == 1 && steps->size() == 1;
  if (!known || !is_last_axis(axes->front(), dims.size()) || steps->front() != 2) return {};
  const bool all = starts->front() >= 0 && starts->front() < 2 && v->type.dims->back() * 2 == dims.back();
  return all ? Side{node->input(0), starts->front()} : Side{};
}

/// pairs[..., element] by a Gather, or by a Split and a Squeeze.
Side taken(const Value* v, const Builder& builder) {
  if (const Node* node = producer_of(v, "Gather")) {
    const auto& dims = node->input(0)->type.dims;
    const Tensor* index = node->input(1)->known_constant();
    if (!dims || !index || index->rank() != 0 || !is_last_axis(builder.view(*node).get_int("axis", 0), dims->size()))
      return {};
    const auto element = static_cast<int64_t>(number_at(*index, 0));
    return {node->input(0), element < 0 ? element + 2 : element};
  }
  const Node* squeezed = producer_of(v, "Squeeze");
  const Node* split = squeezed ? producer_of(squeezed->input(0), "Split") : nullptr;
  const auto axes = squeezed ? builder.view(*squeezed).ints("axes", 1) : std::nullopt;
  const size_t rank = v->type.dims->size() + 1;
  if (!split || split->outputs().size() != 2 || !axes || axes->size() != 1 || !is_last_axis(axes->front(), rank) ||
      !is_last_axis(builder.view(*split).get_int("axis", 0), rank))
    return {};
  return {split->input(0), squeezed->input(0)->output_index};
}

bool is_order_kept(const Node* node) { return is_layout(node) && !node->is("Transpose"); }

/// What the value is a copy of in the same order of elements: Reshape and the like, whoever else reads them.
Value* in_order(Value* v) {
  while (is_order_kept(v->producer) && v->producer->input(0)->type.dims) v = v->producer->input(0);
  return v;
}

/// a where v is a with each element twice: Expand, Tile or Concat of [..., 1] to [..., 2]; null where it is not.
Value* once(const Value* v) {
  const Node* node = v->producer;
  if (!node || node->inputs().empty() || !node->input(0)) return nullptr;
  const auto &one = node->input(0)->type.dims, &two = v->type.dims;
  if (!one || !two || one->empty() || one->size() != two->size() || !one->back().is(1) || !two->back().is(2))
    return nullptr;
  if (!std::equal(one->begin(), one->end() - 1, two->begin())) return nullptr;
  const bool repeats = node->is("Expand") || node->is("Tile");
  const bool joins = node->is("Concat") && node->inputs().size() == 2 && node->input(0) == node->input(1);
  return repeats || joins ? node->input(0) : nullptr;
}

/// How many rows are asked for of a constant's first ones.
std::optional<Dim> first_rows(const Value* v, const Builder& builder) {
  const Node* slice = producer_of(v, "Slice");
  const Value* end = slice && builder.opset() >= 10 ? slice->input(2) : nullptr;
  const Tensor* table = end ? slice->input(0)->known_constant() : nullptr;
  if (!table || !end->symbolic || end->symbolic->size() != 1) return std::nullopt;
  if (table->rank() == 0 || table->dim(0) == 1) return std::nullopt;  // one row is repeated for any number of them
  const NodeView view = builder.view(*slice);
  const std::vector<int64_t> zero{0}, one{1};
  const auto starts = view.ints("starts", 1), axes = view.ints("axes", 3, zero), steps = view.ints("steps", 4, one);
  const bool rows = starts && axes && steps && *starts == zero && *axes == zero && *steps == one;
  return rows ? std::optional(end->symbolic->front()) : std::nullopt;
}

}  // namespace

std::optional<SymDims> table_dims(Value* v, const Builder& builder) {
  auto dims = v->type.dims;
  if (!dims) return std::nullopt;
  const auto free = [](const Dim& d) { return !d.value(); };
  if (std::count_if(dims->begin(), dims->end(), free) != 1) return dims;
  if (const auto rows = first_rows(in_order(v), builder)) *std::find_if(dims->begin(), dims->end(), free) = *rows;
  return dims;
}

bool is_part(const Value* v, const Value* x, int64_t from, int64_t length, const Builder& builder) {
  const Node* node = v->producer;
  if (!node || node->input(0) != x || !v->type.dims || !v->type.dims->back().is(length)) return false;
  const NodeView view = builder.view(*node);
  const auto last = static_cast<int64_t>(x->type.dims->size()) - 1;
  if (node->is("Split")) {
    const int64_t axis = view.get_int("axis", 0);
    return node->outputs().size() == 2 && (axis == -1 || axis == last) && v->output_index == (from == 0 ? 0 : 1);
  }
  if (!node->is("Slice") || builder.opset() < 10) return false;
  const auto starts = view.ints("starts", 1), axes = view.ints("axes", 3), steps = view.ints("steps", 4, {1});
  return starts && axes && steps && *starts == std::vector<int64_t>{from} && axes->size() == 1 &&
         (axes->front() == -1 || axes->front() == last) && *steps == std::vector<int64_t>{1};
}

Value* rotated_alike(const Node& rope, Value* x, const std::vector<Attr>& attrs, const Type& type, Builder& builder) {
  std::vector<Attr> all = rope.attrs;
  for (const Attr& attr : attrs) {
    std::erase_if(all, [&](const Attr& own) { return own.name == attr.name; });
    all.push_back(attr);
  }
  std::vector<Value*> inputs = rope.inputs();
  inputs[0] = x;
  return rope.domain.empty() ? builder.op(rope.op, std::move(inputs), std::move(all), type)
                             : builder.contrib(rope.op, std::move(inputs), std::move(all), type);
}

std::optional<Pairs> pairs_of(const Value* even, const Value* odd, const Builder& builder) {
  if (!even->type.dims || !odd->type.dims || even->type.dims->size() != 4 || *even->type.dims != *odd->type.dims)
    return std::nullopt;
  SymDims heads = *even->type.dims;
  heads.back() = heads.back() * 2;
  for (const auto side : {sliced, taken}) {
    const Side a = side(even, builder), b = side(odd, builder);
    if (!a.of || a.of != b.of || a.element != 0 || b.element != 1) continue;
    SymDims pairs = *even->type.dims;
    pairs.push_back(2);
    if (a.of->type.dims && *a.of->type.dims == (side == sliced ? heads : pairs)) return Pairs{a.of, heads};
  }
  return std::nullopt;
}

std::pair<Value*, Value*> stacked(const Value* v, const Builder& builder) {
  const Node* joined = producer_of(v, "Concat");
  if (!joined || joined->inputs().size() != 2 || !v->type.dims || !v->single_use()) return {};
  if (!is_last_axis(builder.view(*joined).get_int("axis", 0), v->type.dims->size())) return {};
  Value* parts[2] = {};
  for (int i = 0; i < 2; ++i) {
    const Node* node = producer_of(joined->input(i), "Unsqueeze");
    const auto axes = node ? builder.view(*node).ints("axes", 1) : std::nullopt;
    if (!axes || axes->size() != 1 || !is_last_axis(axes->front(), v->type.dims->size())) return {};
    parts[i] = node->input(0);
  }
  return {parts[0], parts[1]};
}

PairTable table_of(Value* v, bool doubled, const Builder& builder) {
  Value* source = in_order(v);
  const Node* applied = source->producer;
  const bool of_angles = doubled && applied && (applied->is("Cos") || applied->is("Sin"));
  if (doubled)
    if (Value* single = once(of_angles ? in_order(applied->input(0)) : source))
      source = in_order(single), v = single, doubled = false;
  PairTable found{.numbers = doubled ? nullptr : v, .doubled = doubled};
  if (of_angles && found.numbers) {
    found.function = applied->op;
    return found;
  }
  if (found.doubled && source->known_constant()) found.table = source;
  const Node* gather = producer_of(source, "Gather");
  const Tensor* rows = gather ? gather->input(0)->known_constant() : nullptr;
  if (!rows || rows->rank() != 2 || builder.view(*gather).get_int("axis", 0) != 0) return found;
  found.ids = gather->input(1), found.table = gather->input(0);
  return found;
}

}  // namespace mlopt::fusion
