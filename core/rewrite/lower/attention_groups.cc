// Attention(q, repeated(k), repeated(v)), where each head of keys and values is written out once for every head of
// queries that shares it -> Attention(q, k, v), which reads it where it is.
#include <optional>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

/// Heads [batch, heads, rows, size] before each of them was repeated.
struct Heads {
  Value* value;
  Dims dims;
};

/// x of Reshape(Expand(x [b, h, 1, n, d], [b, h, g, n, d]), [b, h * g, n, d]).
std::optional<Heads> before_repeated(const Value* heads) {
  const Node* reshape = heads ? heads->producer : nullptr;
  const Node* expand = reshape && reshape->is("Reshape") ? reshape->input(0)->producer : nullptr;
  if (!expand || !expand->is("Expand")) return std::nullopt;
  const auto from = expand->input(0)->type.static_dims(), to = expand->output(0)->type.static_dims(),
             joined = heads->type.static_dims();
  if (!from || !to || from->size() != 5 || to->size() != 5 || (*from)[2] != 1) return std::nullopt;
  Dims repeated = *from;
  repeated[2] = (*to)[2];
  if (repeated != *to || joined != Dims{(*to)[0], (*to)[1] * (*to)[2], (*to)[3], (*to)[4]}) return std::nullopt;
  return Heads{expand->input(0), {(*from)[0], (*from)[1], (*from)[3], (*from)[4]}};
}

Expected<Replacement> rewrite(const Match& m, Builder& b) {
  const Node& attention = *m.root;
  if (attention.outputs().size() > 1 || attention.inputs().size() < 3) return Decline{"more than the result is wanted"};
  const auto k = before_repeated(attention.input(1)), v = before_repeated(attention.input(2));
  if (!k || !v || k->dims[1] != v->dims[1]) return Decline{"keys and values are not repeated alike"};
  std::vector<Value*> inputs(attention.inputs().begin(), attention.inputs().end());
  inputs[1] = make_reshape(b, k->value, k->dims, {});
  inputs[2] = make_reshape(b, v->value, v->dims, {});
  return Replacement{b.op("Attention", std::move(inputs), attention.attrs, attention.output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Attention", {}).open(), rewrite}}; }

}  // namespace

const Pass attention_groups = {"attention_groups", "attention of several heads of queries with the same keys", rules};

}  // namespace mlopt::lower
