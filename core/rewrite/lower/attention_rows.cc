// Transpose(Attention(Transpose(q), Transpose(k), Transpose(v))), whose heads are an axis only in between -> Attention
// of heads side by side, which reads and writes them where they lie.
#include <optional>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

const std::vector<int64_t> kExchange{0, 2, 1, 3};

/// What holds the numbers of heads in the order of [batch, rows, heads, size].
struct Rows {
  Value* value;
  Dims dims;
};

/// Of heads [batch, heads, rows, size] that were made by exchanging axes, or by moving the first one, where the batch
/// is one.
std::optional<Rows> rows_of(const Value* heads, const Builder& b) {
  const Node* n = heads ? heads->producer : nullptr;
  const auto dims = n && n->is("Transpose") ? heads->type.static_dims() : std::nullopt;
  if (!dims || dims->size() != 4) return std::nullopt;
  const auto perm = b.view(*n).get_ints("perm");
  const bool exchanged = perm == kExchange, moved = perm == std::vector<int64_t>{1, 2, 0, 3} && (*dims)[0] == 1;
  if (!exchanged && !moved) return std::nullopt;
  return Rows{n->input(0), {(*dims)[0], (*dims)[2], (*dims)[1], (*dims)[3]}};
}

Expected<Replacement> rewrite(const Match& m, Builder& b) {
  if (b.view(*m.root).get_ints("perm") != kExchange) return Decline{"other axes are exchanged"};
  const Node& attention = *m.node("attention");
  if (attention.outputs().size() > 1) return Decline{"more than the result is wanted"};
  std::vector<Value*> inputs(attention.inputs().begin(), attention.inputs().end());
  std::vector<Dims> dims;
  for (size_t i = 0; i < 3; ++i) {
    const auto rows = rows_of(inputs[i], b);
    if (!rows) return Decline{"an operand's heads are an axis already"};
    inputs[i] = rows->value;
    dims.push_back(rows->dims);
  }
  for (size_t i = 0; i < 3; ++i)
    inputs[i] = make_reshape(b, inputs[i], {dims[i][0], dims[i][1], dims[i][2] * dims[i][3]}, {});
  std::vector<Attr> attrs = attention.attrs;
  attrs.push_back({"q_num_heads", dims[0][2], ""});
  attrs.push_back({"kv_num_heads", dims[1][2], ""});
  Value* y = b.op("Attention", std::move(inputs), std::move(attrs));
  return Replacement{make_reshape(b, y, {dims[0][0], dims[0][1], dims[0][2], dims[2][3]}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Transpose", {Pattern::op("Attention", {}).open().as("attention").single_use()}), rewrite}};
}

}  // namespace

const Pass attention_rows = {"attention_rows", "attention over heads that lie side by side", rules};

}  // namespace mlopt::lower
