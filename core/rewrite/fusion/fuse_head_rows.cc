// RotaryEmbedding and normalization of heads that were put in front of their rows -> the same where the heads lie
// beside each other, and what puts them in front after it: attention then takes the rows [batch, rows, heads * size] as
// they are.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/rope_pairs.h"

namespace mlopt::fusion {
namespace {

const std::vector<int64_t> kExchanged{0, 2, 1, 3};

/// Heads [batch, rows, heads, size] that nothing else reads in front of their rows; null where v is not these.
Value* beside(Value* v, const Builder& builder) {
  const Node* turn = made_by(v, "Transpose");
  return turn && builder.view(*turn).get_ints("perm") == kExchanged ? turn->input(0) : nullptr;
}

/// [batch, heads, rows, size] of [batch, rows, heads, size].
Value* in_front(Value* v, const Type& type, Builder& builder) {
  return builder.op("Transpose", {v}, {{"perm", kExchanged, ""}}, type);
}

/// [batch, rows, heads * size] of [batch, rows, heads, size].
Value* as_rows(Value* v, const Type& rows, Builder& builder) {
  const Node* split = made_by(v, "Reshape");
  if (split && split->input(0)->type.dims == rows.dims) return split->input(0);
  return make_reshape(builder, v, {0, 0, *rows.dims->back().value()}, rows);
}

Expected<Replacement> rewrite_rope(const Match& m, Builder& builder) {
  const Node& rope = *m.root;
  const auto& dims = rope.output(0)->type.dims;
  if (!dims || dims->size() != 4) return Decline{};
  Value* x = beside(rope.input(0), builder);
  if (!x) return Decline{};
  const auto heads = (*dims)[1].value(), size = (*dims)[3].value();
  if (!heads || !size) return Decline{"the heads are not known"};
  const DType dtype = rope.output(0)->type.dtype;
  const Type rows = Type::tensor(dtype, SymDims{(*dims)[0], (*dims)[2], Dim(*heads * *size)});
  Value* y = rotated_alike(rope, as_rows(x, rows, builder), {{"num_heads", *heads, ""}}, rows, builder);
  y = make_reshape(builder, y, {0, 0, *heads, *size},
                   Type::tensor(dtype, SymDims{(*dims)[0], (*dims)[2], (*dims)[1], (*dims)[3]}));
  return Replacement{in_front(y, rope.output(0)->type, builder)};
}

/// Over the elements of each head alone.
Expected<Replacement> rewrite_norm(const Match& m, Builder& builder) {
  const Node& norm = *m.root;
  const Type& type = norm.output(0)->type;
  Value* x = is_norm(norm) && norm.outputs().size() == 1 && type.dims ? beside(norm.input(0), builder) : nullptr;
  if (!x) return Decline{};
  if (!is_last_axis(builder.view(norm).get_int("axis", -1), 4)) return Decline{"it normalizes heads together"};
  std::vector<Value*> inputs = norm.inputs();
  for (size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i] && (!inputs[i]->type.dims || inputs[i]->type.dims->size() > 1))
      return Decline{"its scale may not be alike in all heads"};
  inputs[0] = x;
  const SymDims& dims = *type.dims;
  Value* y = builder.op(norm.op, std::move(inputs), norm.attrs,
                        Type::tensor(type.dtype, SymDims{dims[0], dims[2], dims[1], dims[3]}));
  return Replacement{in_front(y, type, builder)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("RotaryEmbedding", {}).open(), rewrite_rope},
          {Pattern::op("RotaryEmbedding", {}).open().domain("com.microsoft"), rewrite_rope},
          {Pattern::op("LayerNormalization|RMSNormalization|SimplifiedLayerNormalization", {}).open(), rewrite_norm}};
}

}  // namespace

const Pass fuse_head_rows = {"fuse_head_rows",
                             "rotation and normalization of heads where they lie beside each other, in rows", rules};

}  // namespace mlopt::fusion
