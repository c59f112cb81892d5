// RotaryEmbedding of heads that were put in front of their rows -> the same of rows [batch, rows, heads * size], where
// the heads lie beside each other, and what puts them in front after it: attention then takes the rows as they are.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/rope_pairs.h"

namespace mlopt::fusion {
namespace {

/// [batch, rows, heads * size] of [batch, rows, heads, size].
Value* as_rows(Value* v, const Type& rows, Builder& builder) {
  const Node* split = made_by(v, "Reshape");
  if (split && split->input(0)->type.dims == rows.dims) return split->input(0);
  return make_reshape(builder, v, {0, 0, *rows.dims->back().value()}, rows);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& rope = *m.root;
  const auto& dims = rope.output(0)->type.dims;
  const Node* turn = made_by(rope.input(0), "Transpose");
  if (!turn || !dims || dims->size() != 4) return Decline{};
  const std::vector<int64_t> exchanged{0, 2, 1, 3};
  if (builder.view(*turn).get_ints("perm") != exchanged) return Decline{"not heads in front of rows"};
  const auto heads = (*dims)[1].value(), size = (*dims)[3].value();
  if (!heads || !size) return Decline{"the heads are not known"};
  const DType dtype = rope.output(0)->type.dtype;
  const Type rows = Type::tensor(dtype, SymDims{(*dims)[0], (*dims)[2], Dim(*heads * *size)});
  Value* x = as_rows(turn->input(0), rows, builder);
  Value* y = rotated_alike(rope, x, {{"num_heads", *heads, ""}}, rows, builder);
  y = make_reshape(builder, y, {0, 0, *heads, *size},
                   Type::tensor(dtype, SymDims{(*dims)[0], (*dims)[2], (*dims)[1], (*dims)[3]}));
  return Replacement{builder.op("Transpose", {y}, {{"perm", exchanged, ""}}, rope.output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("RotaryEmbedding", {}).open(), rewrite},
          {Pattern::op("RotaryEmbedding", {}).open().domain("com.microsoft"), rewrite}};
}

}  // namespace

const Pass rope_rows = {"fuse_rope_rows", "rotation of heads where they lie beside each other, in rows", rules};

}  // namespace mlopt::fusion
