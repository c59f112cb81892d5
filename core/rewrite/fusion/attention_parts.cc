#include "core/rewrite/fusion/attention_parts.h"

#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {

std::optional<SymDims> mask_dims(const Site& s) {
  const Value* mask = s.choice.condition ? s.choice.condition : s.mask;
  return mask ? mask->type.dims : std::nullopt;
}

Value* added_mask(const Site& s, Builder& builder) {
  if (!s.choice.condition) return s.mask;
  const auto number = [&](const char* name, double x) {
    return builder.constant(name, cast(Tensor::of<double>({}, {x}), DType::kF32));
  };
  Value *hidden = number("hidden", s.choice.hidden), *zero = number("zero", 0);
  return builder.op("Where", {s.choice.condition, s.choice.seen ? zero : hidden, s.choice.seen ? hidden : zero});
}

bool is_whole(const Site& s) {
  const auto mask = mask_dims(s);
  return mask && mask->size() == 4 && ((*mask)[0].is(1) || (*mask)[0] == s.q.batch) &&
         ((*mask)[1].is(1) || (*mask)[1].is(s.q.count)) && ((*mask)[2] == s.q.rows || (*mask)[2].is(1)) &&
         (s.k.past || (*mask)[3] == s.k.rows);
}

Value* whole_mask(const Site& s, Builder& builder) {
  if (!is_whole(s)) return nullptr;
  const bool keys = (*mask_dims(s))[3] == s.k.rows, repeated = !((*mask_dims(s))[2] == s.q.rows);
  Value* shape = !keys ? score_shape(s.q, s.k, builder) : repeated ? row_shape(s.q.rows, builder) : nullptr;
  if ((repeated || !keys) && !shape) return nullptr;
  Value* mask = added_mask(s, builder);
  return shape ? builder.op("Expand", {mask, shape}) : mask;
}

Value* flattened(const Heads& heads, Builder& builder) {
  return heads.way->make(builder, heads.source,
                         Type::tensor(DType::kF32, SymDims{heads.batch, heads.made, heads.count * heads.size}));
}

std::optional<std::array<Projection, 3>> packed(const Site& s) {
  if (!s.q.flat() || !s.k.flat() || !s.v.flat()) return std::nullopt;
  const auto q = projection_of(s.q.flat()), k = projection_of(s.k.flat()), v = projection_of(s.v.flat());
  if (!q || !k || !v || q->x != k->x || q->x != v->x) return std::nullopt;
  return std::array{*q, *k, *v};
}

Value* whole_of(const Site& s, const Builder& builder) {
  const Value* parts[] = {s.q.flat(), s.k.flat(), s.v.flat()};
  const Node* split = parts[0] ? parts[0]->producer : nullptr;
  if (!split || !split->is("Split") || split->outputs().size() != 3) return nullptr;
  for (int i = 0; i < 3; ++i)
    if (split->output(i) != parts[i] || !parts[i]->single_use()) return nullptr;
  const int64_t axis = builder.view(*split).get_int("axis", 0);
  return axis == -1 || axis == 2 ? split->input(0) : nullptr;
}

}  // namespace mlopt::fusion
