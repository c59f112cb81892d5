// QuantizeLinear(Concat(DequantizeLinear x, ...)) -> QLinearConcat(x, ...).
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* concat = m.node("concat");
  const auto y = stored_by(m.root, builder);
  if (!y) return Decline{"its output has no constant steps of 8 bits"};
  std::vector<Value*> inputs{y->scale, y->zero};
  for (Value* input : concat->inputs()) {
    const auto x = stored(input, builder);
    if (!x || !x->has_one_scale() || x->type != y->type)
      return Decline{"an input has no constant steps of the output's type"};
    inputs.insert(inputs.end(), {x->numbers, x->scale, x->zero});
  }
  return Replacement{other_op(m, *concat, builder, "QLinearConcat", std::move(inputs), concat->attrs)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("QuantizeLinear", {Pattern::op("Concat", {Pattern::any("x")}).open().as("concat").single_use()})
               .open(),
           rewrite}};
}

}  // namespace

const Pass concat = {"qdq_concat", "Concat between DequantizeLinear and QuantizeLinear on integers", rules};

}  // namespace mlopt::qdq
