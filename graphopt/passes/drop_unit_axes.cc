// Reshape(Softmax(scale q k)), which takes away axes of length 1 that were the only head's, before a product with the
// values -> Softmax(scale Reshape(q) Reshape(k)): these meet the Reshapes that put the axes in, and attention has
// three.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/numbers.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Has `to` the axes of `from` in their order, but for some of length 1 before the last two?
bool drops_ones(const SymDims& from, const SymDims& to) {
  if (to.size() >= from.size() || to.size() < 2) return false;
  if (!(from.back() == to.back()) || !(from.end()[-2] == to.end()[-2])) return false;
  return without_ones(from) == without_ones(to);
}

/// What is between a product of matrices and v, which nothing else reads: products with numbers, the last one first.
std::optional<std::vector<const Node*>> scales_before(const Value* v) {
  std::vector<const Node*> scales;
  for (; v->single_use() && v->producer && v->graph == v->producer->graph(); v = v->producer->input(0)) {
    if (v->producer->is("MatMul")) return scales;
    const bool scale = v->producer->is("Mul") || v->producer->is("Div");
    if (!scale || !number_in(v->producer->input(1))) return std::nullopt;
    scales.push_back(v->producer);
  }
  return std::nullopt;
}

/// An operand [..., rows, columns] of the product, behind the number that scales it if there is one.
struct Operand {
  Value* value;
  const Node* scale;  ///< null: there is none
  std::vector<int64_t> target;
  Type type;  ///< [...] without the axes
};

/// Nothing where no Reshape or Transpose of its own made it, which the new one would meet.
std::optional<Operand> operand_of(Value* v, const SymDims& from, const SymDims& to) {
  const Node* scale = v->producer && (v->producer->is("Mul") || v->producer->is("Div")) ? v->producer : nullptr;
  if (scale && !number_in(scale->input(1))) return std::nullopt;
  Value* inner = scale ? scale->input(0) : v;
  const auto& dims = inner->type.dims;
  if (!v->single_use() || !inner->single_use() || !is_layout(inner->producer) || !dims) return std::nullopt;
  if (dims->size() != from.size() || !std::equal(from.begin(), from.end() - 2, dims->begin())) return std::nullopt;
  SymDims left(to.begin(), to.end() - 2);
  left.insert(left.end(), dims->end() - 2, dims->end());
  const auto target = reshape_target(dims, left);
  return target ? std::optional(Operand{inner, scale, *target, Type::tensor(inner->type.dtype, left)}) : std::nullopt;
}

Value* written(const Operand& operand, Builder& builder) {
  Value* y = make_reshape(builder, operand.value, operand.target, operand.type);
  return operand.scale ? builder.op(operand.scale->op, {y, operand.scale->input(1)}, {}, operand.type) : y;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value* y = m.root->output(0);
  if (!y->single_use() || !y->uses[0].node->is("MatMul") || y->uses[0].index != 0) return Decline{};
  const auto &from = m.value("x")->type.dims, &to = y->type.dims;
  if (!from || !to || !drops_ones(*from, *to)) return Decline{};
  const int64_t axis = builder.view(*m.node("softmax")).get_int("axis", builder.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis + 1 != std::ssize(*from)) return Decline{"another axis than the last one"};
  const auto scales = scales_before(m.value("x"));
  if (!scales) return Decline{"it is not of a product, scaled by numbers"};
  const Node& product = *(scales->empty() ? m.value("x") : scales->back()->input(0))->producer;
  const auto a = operand_of(product.input(0), *from, *to), b = operand_of(product.input(1), *from, *to);
  if (!a || !b) return Decline{"its operands have no Reshapes that these would meet"};
  Value* x = builder.op("MatMul", {written(*a, builder), written(*b, builder)}, {}, y->type);
  for (auto scale = scales->rbegin(); scale != scales->rend(); ++scale)
    x = builder.op((*scale)->op, {x, (*scale)->input(1)}, {}, y->type);
  return Replacement{builder.op("Softmax", {x}, {{"axis", std::ssize(*to) - 1, ""}}, y->type)};
}

std::vector<Rule> rules() {
  Pattern softmax = Pattern::op("Softmax", {Pattern::any("x")}).as("softmax").single_use();
  return {{Pattern::op("Reshape|Squeeze|Flatten", {std::move(softmax)}).open(), rewrite}};
}

}  // namespace

const Pass drop_unit_axes = {"drop_unit_axes", "attention of one head without an axis of heads", rules};

}  // namespace mlopt::graphopt
