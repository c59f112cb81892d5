// Transpose(Attention(Transpose(q), Transpose(k), Transpose(v))), whose heads are an axis only in between -> Attention
// of heads side by side, which reads and writes them where they lie.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

/// x of shape [batch, rows, heads, size] where v is x with rows and heads exchanged.
Value* exchanged(const Value* v, const Builder& b) {
  const Node* n = v ? v->producer : nullptr;
  if (!n || !n->is("Transpose") || b.view(*n).get_ints("perm") != std::vector<int64_t>{0, 2, 1, 3}) return nullptr;
  return n->input(0)->type.static_dims() ? n->input(0) : nullptr;
}

Value* reshaped(Value* x, Dims dims, Builder& b) {
  return b.op("Reshape", {x, b.constant("shape", Tensor::ints(std::move(dims)))});
}

Expected<Replacement> rewrite(const Match& m, Builder& b) {
  if (b.view(*m.root).get_ints("perm") != std::vector<int64_t>{0, 2, 1, 3}) return Decline{"other axes are exchanged"};
  const Node& attention = *m.node("attention");
  if (attention.outputs().size() > 1) return Decline{"more than the result is wanted"};
  std::vector<Value*> inputs(attention.inputs().begin(), attention.inputs().end());
  std::vector<Dims> dims;
  for (size_t i = 0; i < 3; ++i) {
    inputs[i] = exchanged(attention.input(static_cast<int>(i)), b);
    if (!inputs[i]) return Decline{"an operand's heads are an axis already"};
    dims.push_back(*inputs[i]->type.static_dims());
  }
  for (size_t i = 0; i < 3; ++i) inputs[i] = reshaped(inputs[i], {dims[i][0], dims[i][1], dims[i][2] * dims[i][3]}, b);
  std::vector<Attr> attrs = attention.attrs;
  attrs.push_back({"q_num_heads", dims[0][2], ""});
  attrs.push_back({"kv_num_heads", dims[1][2], ""});
  Value* y = b.op("Attention", std::move(inputs), std::move(attrs));
  return Replacement{reshaped(y, {dims[0][0], dims[0][1], dims[0][2], dims[2][3]}, b)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Transpose", {Pattern::op("Attention", {}).open().as("attention").single_use()}), rewrite}};
}

}  // namespace

const Pass attention_rows = {"attention_rows", "attention over heads that lie side by side", rules};

}  // namespace mlopt::lower
