// QuantizeLinear([Relu|Clip](Conv(DequantizeLinear x, DequantizeLinear w, b))) -> QLinearConv(x, w, b).
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* conv = m.node("conv");
  const auto x = stored(conv->input(0), builder), w = stored(conv->input(1), builder, 0),
             y = stored_by(m.root, builder);
  if (!x || !w || !y) return Decline{"its input, weights or output have no constant steps of 8 bits"};
  if (!w->numbers->known_constant()) return Decline{"its weights are not constant"};
  if (!absorbs(*y, m.has("act") ? m.node("act") : nullptr, builder))
    return Decline{"the activation cuts within the output's steps"};
  std::vector<Value*> inputs{x->numbers, x->scale, x->zero, w->numbers, w->scale, w->zero, y->scale, y->zero};
  if (const Value* bias = conv->input(2)) {
    auto steps = bias_steps(bias, *x, *w);
    if (!steps) return Decline{"its bias is not constant or too large"};
    inputs.push_back(builder.constant(bias->name + "_steps", std::move(*steps)));
  }
  return Replacement{other_op(m, *conv, builder, "QLinearConv", std::move(inputs), conv->attrs, "")};
}

Pattern conv_pattern() {
  return Pattern::op("Conv", {Pattern::any("x"), Pattern::any("w")}).open().as("conv").single_use();
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("QuantizeLinear", {conv_pattern()}).open(), rewrite},
      {Pattern::op("QuantizeLinear", {Pattern::op("Relu|Clip", {conv_pattern()}).open().as("act").single_use()}).open(),
       rewrite}};
}

}  // namespace

const Pass conv = {"qdq_conv", "Conv between DequantizeLinear and QuantizeLinear on integers", rules};

}  // namespace mlopt::qdq
