// QuantizeLinear(op(DequantizeLinear x, ...)) -> QLinearOp(x, ...) for Add, Mul, Sigmoid, LeakyRelu and
// GlobalAveragePool; a Relu or Clip between that the output's steps make superfluous goes.
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* op = m.node("op");
  const auto y = stored_by(m.root, builder);
  if (!y) return Decline{"its output has no constant steps of 8 bits"};
  if (!absorbs(*y, m.has("act") ? m.node("act") : nullptr, builder))
    return Decline{"the activation cuts within the output's steps"};
  std::vector<Value*> inputs;
  for (Value* input : op->inputs()) {
    const auto x = stored(input, builder);
    if (!x || !x->has_one_scale() || x->type != y->type)
      return Decline{"an input has no constant steps of the output's type"};
    inputs.insert(inputs.end(), {x->numbers, x->scale, x->zero});
  }
  inputs.insert(inputs.end(), {y->scale, y->zero});
  return Replacement{other_op(m, *op, builder, "QLinear" + op->op, std::move(inputs), op->attrs)};
}

Pattern op_pattern() {
  return Pattern::op("Add|Mul|Sigmoid|LeakyRelu|GlobalAveragePool",
                     {Pattern::op("DequantizeLinear", {Pattern::any("")}).open()})
      .open()
      .as("op")
      .single_use();
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("QuantizeLinear", {op_pattern()}).open(), rewrite},
      {Pattern::op("QuantizeLinear", {Pattern::op("Relu|Clip", {op_pattern()}).open().as("act").single_use()}).open(),
       rewrite}};
}

}  // namespace

const Pass pointwise = {"qdq_pointwise",
                        "elementwise operators between DequantizeLinear and QuantizeLinear on integers", rules};

}  // namespace mlopt::qdq
