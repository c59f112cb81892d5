// MatMul(Transpose(x), W) -> Transpose(MatMul(x, W)), and so on through a sum with a row and through Split, where the
// Transpose then meets others, as those do that part heads where rows come before samples.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/row_by_row.h"

namespace mlopt::graphopt {
namespace {

using Perm = std::vector<int64_t>;

/// The permutation by which v was made, which leaves the last axis; nothing else reads v.
std::optional<Perm> turned_by(const Value* v, const Builder& builder) {
  const Node* node = v && v->single_use() ? v->producer : nullptr;
  if (!node || v->graph != &builder.graph || !v->type.dims) return std::nullopt;
  return order_of_rows(builder.view(*node));
}

bool is_row(const Value* v) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  return t && (t->rank() == 1 || t->size() == 1) && t->rank() <= 1;
}

/// The operand beside a row.
int beside_row(const Node& sum) { return is_row(sum.input(1)) ? 0 : is_row(sum.input(0)) ? 1 : -1; }

/// Does all that reads v bring it, row by row, to a Transpose of parts of its last axis?
bool meets_transposes(const Value& v, const Builder& builder, int depth = 4) {
  if (v.is_output() || v.uses.size() != 1 || depth == 0 || !v.type.dims) return false;
  const Node& user = *v.uses[0].node;
  if (user.graph() != v.graph || !user.output(0)) return false;
  if (user.is("Transpose")) return true;
  const auto& out = user.output(0)->type.dims;
  if (user.is("Add")) return beside_row(user) >= 0 && meets_transposes(*user.output(0), builder, depth - 1);
  if (user.is("Split") && is_last_axis(builder.view(user).get_int("axis", 0), v.type.dims->size()))
    return std::all_of(user.outputs().begin(), user.outputs().end(),
                       [&](const Value* part) { return part && meets_transposes(*part, builder, depth - 1); });
  if (!user.is("Reshape") || !out || out->size() < v.type.dims->size()) return false;
  const bool rows_stay = std::equal(v.type.dims->begin(), v.type.dims->end() - 1, out->begin());
  return rows_stay && meets_transposes(*user.output(0), builder, depth - 1);
}

Value* turned(Value* y, const Perm& perm, const Type& type, Builder& builder) {
  y->type = type;
  for (size_t i = 0; i < perm.size(); ++i) (*y->type.dims)[static_cast<size_t>(perm[i])] = (*type.dims)[i];
  return builder.op("Transpose", {y}, {{"perm", perm, {}}}, type);
}

Expected<Replacement> rewrite_matmul(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto perm = turned_by(x, builder);
  const Type& type = m.root->output(0)->type;
  if (!perm || !type.dims || type.dims->size() != perm->size()) return Decline{};
  if (m.constant("w").rank() != 2) return Decline{"its weight is no matrix"};
  if (!meets_transposes(*m.root->output(0), builder)) return Decline{"the Transpose would meet no other"};
  Value* y = builder.op("MatMul", {x->producer->input(0), m.value("w")}, m.root->attrs);
  return Replacement{turned(y, *perm, type, builder)};
}

Expected<Replacement> rewrite_add(const Match& m, Builder& builder) {
  const int at = beside_row(*m.root);
  const auto perm = at >= 0 ? turned_by(m.root->input(at), builder) : std::nullopt;
  const Type& type = m.root->output(0)->type;
  if (!perm || !type.dims || type.dims->size() != perm->size() || builder.opset() < 7) return Decline{};
  if (!meets_transposes(*m.root->output(0), builder)) return Decline{"the Transpose would meet no other"};
  std::vector<Value*> inputs = m.root->inputs();
  inputs[static_cast<size_t>(at)] = inputs[static_cast<size_t>(at)]->producer->input(0);
  return Replacement{turned(builder.op("Add", std::move(inputs)), *perm, type, builder)};
}

Expected<Replacement> rewrite_split(const Match& m, Builder& builder) {
  const Node& split = *m.root;
  Value* x = split.input(0);
  const auto perm = turned_by(x, builder);
  if (!perm || !is_last_axis(builder.view(split).get_int("axis", 0), perm->size())) return Decline{};
  if (!meets_transposes(*x, builder)) return Decline{"the Transpose would meet no other"};
  for (const Value* part : split.outputs())
    if (!part->type.dims || part->type.dims->size() != perm->size()) return Decline{"the shape of a part is not known"};
  std::vector<Value*> inputs = split.inputs();
  inputs[0] = x->producer->input(0);
  const Node* before = builder.node("Split", std::move(inputs), split.attrs, x->name + "_part",
                                    static_cast<int>(split.outputs().size()));
  Replacement parts;
  for (size_t i = 0; i < split.outputs().size(); ++i)
    parts.push_back(turned(before->outputs()[i], *perm, split.outputs()[i]->type, builder));
  return parts;
}

std::vector<Rule> rules() {
  return {{Pattern::op("MatMul", {Pattern::any("x"), Pattern::constant("w")}), rewrite_matmul},
          {Pattern::op("Add", {Pattern::any("a"), Pattern::any("b")}), rewrite_add},
          {Pattern::op("Split", {Pattern::any("x")}).open(), rewrite_split}};
}

}  // namespace

const Pass push_transposes_to_heads = {"push_transposes_to_heads",
                                       "move a Transpose of rows behind the product to those that part heads", rules};

}  // namespace mlopt::graphopt
