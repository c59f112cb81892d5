// Reshape(f(x y)) that parts the first axis, for products of matrices whose batch and heads are one axis and f of
// factors and summands -> f'(Reshape(x y)): what is added is parted too, and the product may do without joined axes.
// How Bloom writes scores (torch.baddbmm).
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Does the Reshape part the first axis in two, and leave the others?
bool parts_first(const SymDims& from, const SymDims& to) {
  return to.size() == from.size() + 1 && from.size() >= 3 && to[0] * to[1] == from[0] &&
         std::equal(from.begin() + 1, from.end(), to.begin() + 2);
}

/// Is it a product of matrices of joined axes, or factors of one and summands beside one?
bool is_of_product(const Value* v, int depth = 4) {
  const Node* node = v && v->single_use() ? v->producer : nullptr;
  if (!node || depth == 0) return false;
  if (node->is("MatMul")) return is_layout(node->input(0)->producer) && is_layout(node->input(1)->producer);
  if (!node->is("Mul") && !node->is("Div") && !node->is("Add")) return false;
  return is_of_product(node->input(0), depth - 1) || (!node->is("Div") && is_of_product(node->input(1), depth - 1));
}

/// What broadcasts to the parted shape as `v` does to `from`; null where it cannot be written.
Value* parted(Value* v, const SymDims& from, const SymDims& to, Builder& builder) {
  const auto& dims = v->type.dims;
  if (!dims || dims->size() > from.size()) return nullptr;
  if (dims->size() < from.size() || dims->front().is(1)) return v;
  if (!(dims->front() == from.front())) return nullptr;
  SymDims wanted{to[0], to[1]};
  wanted.insert(wanted.end(), dims->begin() + 1, dims->end());
  const auto view = viewed(v, layouts_before(v, builder), wanted, builder);
  return view ? view->make(builder) : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& sum = *m.node("sum");
  if (aligns_axes(sum)) return Decline{"it says which axes of its operands are aligned"};
  const auto &from = sum.output(0)->type.dims, &to = m.root->output(0)->type.dims;
  if (!from || !to || !parts_first(*from, *to)) return Decline{};
  const int at = is_of_product(sum.input(0)) ? 0 : 1;
  Value *product = sum.input(at), *other = sum.input(1 - at);
  if (!is_of_product(product) || product->type.dims != *from || (at == 1 && sum.is("Div"))) return Decline{};
  other = parted(other, *from, *to, builder);
  if (!other) return Decline{"what is added cannot be parted alike"};
  std::vector<Value*> inputs = m.root->inputs();
  inputs[0] = product;
  const Type& type = m.root->output(0)->type;
  product = builder.op("Reshape", std::move(inputs), m.root->attrs, type);
  return Replacement{
      builder.op(sum.op, at == 0 ? std::vector{product, other} : std::vector{other, product}, sum.attrs, type)};
}

std::vector<Rule> rules() {
  Pattern sum = Pattern::op("Add|Mul|Div", {Pattern::any(""), Pattern::any("")}).as("sum").single_use();
  return {{Pattern::op("Reshape", {std::move(sum)}).open(), rewrite}};
}

}  // namespace

const Pass push_reshapes_to_products = {
    "push_reshapes_to_products", "move a Reshape that parts batch and heads of scores to the product that makes them",
    rules};

}  // namespace mlopt::graphopt
