#include "core/rewrite/fusion/attention_parts.h"

#include <algorithm>
#include <numeric>

#include "core/ir/infer_types.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/joined_mask.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {

bool fit(const Heads& q, const Heads& k, const Heads& v) {
  const bool heads = q.count == k.count * k.repeats && q.count == v.count * v.repeats && q.repeats == 1 &&
                     k.count == v.count && q.size == k.size && v.scale == 1 && !v.cosines && !q.past;
  if (!k.past != !v.past || (k.past && (k.present == v.present || k.size != v.size))) return false;
  // With a past, the product with the probabilities says that the keys are as many as the values.
  const bool rows = k.past ? k.made == v.made : k.rows == v.rows;
  return heads && rows && q.batch == k.batch && q.batch == v.batch;
}

namespace {

/// Is the last axis that of these keys, beside others of which may be 1 or whose length does not follow from the
/// inputs? The product with the values takes no other number.
bool has_keys(const Value* v, const Dim& keys, int depth = 4) {
  const auto& dims = v->type.dims;
  if (!dims || dims->empty()) return false;
  if (dims->back().known()) return infer_rules::is_choice_of(keys, dims->back());
  constexpr const char* kOps[] = {"Where", "And", "Or", "Not", "Add", "Sub", "Mul", "Cast", "Unsqueeze"};
  const Node* node = v->producer;
  if (!node || depth == 0 || std::none_of(std::begin(kOps), std::end(kOps), [&](auto op) { return node->is(op); }))
    return false;
  const auto& inputs = node->inputs();
  const auto end = node->is("Unsqueeze") ? inputs.begin() + 1 : inputs.end();
  return std::any_of(inputs.begin(), end, [&](const Value* input) { return has_keys(input, keys, depth - 1); });
}

}  // namespace

std::optional<SymDims> mask_dims(const Site& s) {
  std::optional<SymDims> all = SymDims{};
  bool keys = false;
  for (const Value* mask : {s.mask, s.choice.condition}) {
    if (!mask) continue;
    keys = keys || has_keys(mask, s.k.rows);
    all = infer_rules::broadcast_dims(all, s.joined && mask == s.mask ? s.joined->dims : mask->type.dims);
  }
  if (all && keys) all->back() = s.k.rows;
  return all;
}

namespace {

/// The same with all four axes.
std::optional<SymDims> four_axes(const Site& s) {
  auto dims = mask_dims(s);
  if (!dims || dims->size() < 2 || dims->size() > 4) return std::nullopt;
  dims->insert(dims->begin(), 4 - dims->size(), Dim(1));
  return dims;
}

/// The value with so many axes of length 1 in front.
Value* with_axes(Value* v, size_t lacking, Builder& builder) {
  if (lacking == 0) return v;
  std::vector<int64_t> axes(lacking);
  std::iota(axes.begin(), axes.end(), 0);
  if (builder.opset() < 13) return builder.op("Unsqueeze", {v}, {{"axes", axes, ""}});
  return builder.op("Unsqueeze", {v, builder.constant("axes", Tensor::ints(axes))});
}

}  // namespace

Value* added_mask(const Site& s, Builder& builder) {
  Value* mask = s.joined ? parted(s.mask, s.joined->joined, builder) : s.mask;
  if (!s.choice.condition) return mask;
  const auto number = [&](const char* name, double x) {
    return builder.constant(name, cast(Tensor::of<double>({}, {x}), s.type.dtype));
  };
  Value *hidden = number("hidden", s.choice.hidden), *seen = mask ? mask : number("zero", 0);
  return builder.op("Where", {s.choice.condition, s.choice.seen ? seen : hidden, s.choice.seen ? hidden : seen});
}

bool is_whole(const Site& s) {
  const auto mask = four_axes(s);
  return mask && ((*mask)[1].is(1) || (*mask)[1].is(s.q.count)) &&
         (s.k.past ||
          (infer_rules::is_choice_of((*mask)[0], s.q.batch) && ((*mask)[2] == s.q.rows || (*mask)[2].is(1))));
}

Value* source_rows(const Heads& heads) {
  const auto projection = heads.flat() ? projection_of(heads.flat()) : std::nullopt;
  return projection ? projection->x : heads.flat();
}

Value* repeated_shape(const Site& s, bool rows, bool keys, Builder& builder) {
  if (s.k.past && keys) return score_shape(s.q, s.k, builder);
  Value* each = rows ? row_shape(s.q.rows, builder, source_rows(s.q)) : nullptr;
  if (!keys) return each;
  Value* all = shape_with(s.k.rows, 3, 4, builder, source_rows(s.k));
  if (!rows || !all) return all;
  return each ? builder.op("Mul", {each, all}) : nullptr;
}

Value* whole_mask(const Site& s, Builder& builder) {
  if (!is_whole(s)) return nullptr;
  const SymDims dims = *four_axes(s);
  const bool keys = !(dims[3] == s.k.rows), rows = !(dims[2] == s.q.rows);
  Value* shape = keys || rows ? repeated_shape(s, rows, keys, builder) : nullptr;
  if ((keys || rows) && !shape) return nullptr;
  Value* mask = added_mask(s, builder);
  if (!shape) return with_axes(mask, 4 - mask_dims(s)->size(), builder);
  return builder.op("Expand", {mask, shape});
}

Value* flattened(const Heads& heads, Builder& builder) {
  return heads.way->make(
      builder, heads.source,
      Type::tensor(heads.source->type.dtype, SymDims{heads.batch, heads.made, heads.count * heads.size}));
}

bool comes_parted(const Heads& heads) {
  if (!heads.parted || heads.way->cost() < 2) return false;
  const Node* node = heads.parted->producer;
  return !node || !node->is("Reshape") || !node->input(1) || node->input(1)->known_constant();
}

Value* rows_for_all(const Heads& heads, Builder& builder) {
  Value* rows = flattened(heads, builder);
  if (heads.repeats == 1) return rows;
  Value* each = make_reshape(builder, rows, {0, 0, heads.count, 1, heads.size}, {});
  Value* times = builder.constant("times", Tensor::ints({1, 1, 1, heads.repeats, 1}));
  return make_reshape(builder, builder.op("Expand", {each, times}), {0, 0, heads.count * heads.repeats * heads.size},
                      {});
}

Value* heads_for_all(const Heads& heads, Builder& builder) {
  if (heads.repeats == 1) return heads.parted;
  Value* each = make_reshape(builder, heads.parted, {0, 0, 1, -1, heads.size}, {});
  Value* times = builder.constant("times", Tensor::ints({1, 1, heads.repeats, 1, 1}));
  return make_reshape(builder, builder.op("Expand", {each, times}), {0, heads.count * heads.repeats, -1, heads.size},
                      {});
}

namespace {

/// Do others need queries, keys or values as they are projected?
bool is_shared(const Site& s) { return s.q.shared || s.k.shared || s.v.shared; }

}  // namespace

std::optional<std::array<Projection, 3>> packed(const Site& s) {
  if (!s.q.flat() || !s.k.flat() || !s.v.flat() || is_shared(s)) return std::nullopt;
  const auto q = projection_of(s.q.flat()), k = projection_of(s.k.flat()), v = projection_of(s.v.flat());
  if (!q || !k || !v || q->x != k->x || q->x != v->x) return std::nullopt;
  return std::array{*q, *k, *v};
}

Value* whole_of(const Site& s, const Builder& builder) {
  const Value* parts[] = {s.q.flat(), s.k.flat(), s.v.flat()};
  const Node* split = parts[0] ? parts[0]->producer : nullptr;
  if (!split || !split->is("Split") || split->outputs().size() != 3 || is_shared(s)) return nullptr;
  for (int i = 0; i < 3; ++i)
    if (split->output(i) != parts[i] || !parts[i]->single_use()) return nullptr;
  const int64_t axis = builder.view(*split).get_int("axis", 0);
  return axis == -1 || axis == 2 ? split->input(0) : nullptr;
}

}  // namespace mlopt::fusion
