// QuantizeLinear(op(DequantizeLinear x)) -> op(x), where both have the same steps and the operator only moves or
// selects elements.
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* op = m.node("op");
  const auto x = stored(op->input(0), builder), y = stored_by(m.root, builder);
  if (!x || !y || !x->has_one_scale() || !same_steps(*x, *y)) return Decline{"its input and output have other steps"};
  if (op->outputs().size() > 1) return Decline{"it has several outputs"};
  if (op->op == "MaxPool" && builder.opset() < 12) return Decline{"its opset pools floats only"};
  if (op->op == "Resize" && builder.view(*op).get_string("mode", "nearest") != "nearest")
    return Decline{"it makes new numbers"};
  std::vector<Value*> inputs = op->inputs();
  inputs[0] = x->numbers;
  return Replacement{other_op(m, *op, builder, op->op, std::move(inputs), op->attrs, "")};
}

std::vector<Rule> rules() {
  const char* moves =
      "MaxPool|Reshape|Transpose|Flatten|Squeeze|Unsqueeze|Slice|Gather|Identity|Expand|Tile|DepthToSpace|SpaceToDepth|"
      "Resize";
  Pattern op =
      Pattern::op(moves, {Pattern::op("DequantizeLinear", {Pattern::any("")}).open()}).open().as("op").single_use();
  return {{Pattern::op("QuantizeLinear", {std::move(op)}).open(), rewrite}};
}

}  // namespace

const Pass moves = {"qdq_moves", "operators that move elements between DequantizeLinear and QuantizeLinear on integers",
                    rules};

}  // namespace mlopt::qdq
