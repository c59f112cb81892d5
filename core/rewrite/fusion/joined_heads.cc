// Softmax(q k^T + mask) v of matrices whose batch and heads are one axis, as torch.bmm takes them -> the same of four
// axes, where that takes fewer Reshapes: their shapes are computed where the batch is free.
#include "core/rewrite/fusion/attention_ending.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

/// A product with, or a quotient by, a number, or a sum with a mask of all matrices, and which operand goes on; nothing
/// for other nodes.
std::optional<int> goes_on_by(const Node& node) {
  const bool either = node.is("Mul") || node.is("Add");
  for (const int i : {0, 1}) {
    if (!either && (i == 1 || !node.is("Div"))) break;
    const auto& dims = node.input(1 - i)->type.dims;
    if (number_in(node.input(1 - i))) return i;
    if (node.is("Add") && dims && (dims->size() < 3 || (dims->size() == 3 && dims->front().is(1)))) return i;
  }
  return std::nullopt;
}

/// What is computed of v in four axes as it was in three: first the node that `from` leads to, last first.
struct Path {
  Value* from = nullptr;
  std::vector<const Node*> nodes;
};

/// Back to what is no such node, or to a product where that is asked for.
Path path_to(Value* v) {
  Path path{v, {}};
  while (path.from->single_use() && path.from->producer) {
    const Node& node = *path.from->producer;
    const auto next = goes_on_by(node);
    if (!next || node.input(*next)->type.dims != path.from->type.dims) break;
    path.nodes.push_back(&node);
    path.from = node.input(*next);
  }
  return path;
}

/// The way from where matrices [batch * heads, rows, columns] come from to four axes.
struct Operand {
  Path path;
  Value* source = nullptr;
  std::optional<AxisMap> way;
  int64_t saved = 0;
};

Operand operand_of(Value* v, const Joined& joined, const Builder& builder) {
  Operand o;
  o.path = path_to(v);
  const auto& dims = o.path.from->type.dims;
  if (!dims || dims->size() != 3 || !(dims->front() == joined.batch * joined.heads)) return o;
  std::vector<const Node*> chain;
  if (o.path.from->single_use() && is_layout(o.path.from->producer)) chain = layout_chain(o.path.from->producer);
  o.source = chain.empty() ? o.path.from : chain.front()->input(0);
  if (!o.source->type.dims) return o;
  AxisMap way(*o.source->type.dims);
  if (!way.apply(chain, builder)) return o;
  if (!way.reshape({joined.batch, joined.heads, (*dims)[1], (*dims)[2]}) || !way.writable()) return o;
  o.saved = static_cast<int64_t>(chain.size()) - way.cost();
  o.way = std::move(way);
  return o;
}

SymDims four(const SymDims& three, const Joined& joined) {
  return {joined.batch, Dim(joined.heads), three[1], three[2]};
}

/// The nodes of the path again, of a value of four axes.
Value* along(const Path& path, Value* v, const Joined& joined, Builder& builder) {
  for (auto node = path.nodes.rbegin(); node != path.nodes.rend(); ++node) {
    std::vector<Value*> inputs = (*node)->inputs();
    const Type& type = (*node)->output(0)->type;
    inputs[static_cast<size_t>(*goes_on_by(**node))] = v;
    v = builder.op((*node)->op, std::move(inputs), (*node)->attrs, Type::tensor(type.dtype, four(*type.dims, joined)));
  }
  return v;
}

Value* made(const Operand& o, const Joined& joined, Builder& builder) {
  const Type& type = o.path.from->type;
  Value* v = o.way->make(builder, o.source, Type::tensor(type.dtype, four(*type.dims, joined)));
  return along(o.path, v, joined, builder);
}

/// From [batch, heads, rows, columns] to the root.
std::optional<AxisMap> way_to_root(const Ending& end, const Joined& joined, const Builder& builder) {
  const SymDims& three = *end.product->output(0)->type.dims;
  AxisMap way(four(three, joined));
  if (!way.reshape(three) || !way.apply(end.chain, builder)) return std::nullopt;
  return way.writable() ? std::optional(way) : std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto end = goes_on(*m.root) ? std::nullopt : ending_at(m.root);
  const auto joined = end ? joined_in(*end, builder) : std::nullopt;
  if (!joined || end->guarded || builder.opset() < 7) return Decline{};
  const int64_t axis = builder.view(*end->softmax).get_int("axis", builder.opset() < 13 ? 1 : -1);
  const Path scores = path_to(end->softmax->input(0));
  const Node* product = scores.from->single_use() ? scores.from->producer : nullptr;
  if ((axis != -1 && axis != 2) || !product || !product->is("MatMul") || !scores.from->type.dims ||
      scores.from->type.dims->size() != 3)
    return Decline{"what hides keys has batch and heads as one axis"};
  const Operand q = operand_of(product->input(0), *joined, builder),
                k = operand_of(product->input(1), *joined, builder),
                v = operand_of(end->product->input(1), *joined, builder);
  const auto way = way_to_root(*end, *joined, builder);
  if (!q.way || !k.way || !v.way || !way) return Decline{"how batch and heads were joined is not known"};
  if (q.saved + k.saved + v.saved + static_cast<int64_t>(end->chain.size()) - way->cost() <= 0)
    return Decline{"as many Reshapes would be left"};
  const auto type_of = [&](const Value* old) {
    return Type::tensor(old->type.dtype, old->type.dims ? four(*old->type.dims, *joined) : SymDims());
  };
  Value* y = builder.op("MatMul", {made(q, *joined, builder), made(k, *joined, builder)}, {}, type_of(scores.from));
  y = along(scores, y, *joined, builder);
  y = builder.op("Softmax", {y}, {{"axis", int64_t{builder.opset() < 13 ? 3 : -1}, ""}},
                 type_of(end->softmax->output(0)));
  y = builder.op("MatMul", {y, made(v, *joined, builder)}, {}, type_of(end->product->output(0)));
  return Replacement{way->make(builder, y, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass joined_heads = {"part_joined_heads", "attention whose batch and heads are one axis in four axes", rules};

}  // namespace mlopt::fusion
