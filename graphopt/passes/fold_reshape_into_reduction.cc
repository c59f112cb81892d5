// Squeeze, Unsqueeze, Reshape or Flatten that drops or adds the axes of the reduction before it -> the reduction that
// does not keep or keeps them.
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Node& node = *m.node("reduction");
  auto reduction = Reduction::of(builder.view(node));
  if (!reduction) return reduction.error();
  reduction->keepdims = !reduction->keepdims;
  const Type& type = m.root->output(0)->type;
  if (reduction->axes.empty() || !same_dims(type.dims, reduction->shape(*x->type.dims, reduction->keepdims)))
    return Decline{"it changes other axes than the reduction's"};
  return Replacement{make_reduction(builder, node.op, x, *reduction, type)};
}

/// The same with a number between them.
Expected<Replacement> rewrite_through(const Match& m, Builder& builder) {
  if (m.constant("number").rank() != 0) return Decline{"what is between them is no number"};
  auto made = rewrite(m, builder);
  if (!made) return made;
  const Node& between = *m.node("between");
  std::vector<Value*> inputs = between.inputs();
  for (Value*& input : inputs)
    if (input == m.value("reduction")) input = made->front();
  return Replacement{builder.op(between.op, std::move(inputs), between.attrs, m.root->output(0)->type)};
}

Pattern reduction() {
  return Pattern::op(
             "ReduceSum|ReduceMean|ReduceProd|ReduceMax|ReduceMin|ReduceL1|ReduceL2|ReduceSumSquare|ReduceLogSum|"
             "ReduceLogSumExp",
             {Pattern::any("x")})
      .open()
      .as("reduction")
      .single_use();
}

std::vector<Rule> rules() {
  const char* shaping = "Squeeze|Unsqueeze|Reshape|Flatten";
  Pattern between =
      Pattern::op("Mul|Add", {reduction(), Pattern::constant("number")}).any_order().as("between").single_use();
  Pattern divided = Pattern::op("Div|Sub", {reduction(), Pattern::constant("number")}).as("between").single_use();
  return {{Pattern::op(shaping, {reduction()}).open(), rewrite},
          {Pattern::op(shaping, {std::move(between)}).open(), rewrite_through},
          {Pattern::op(shaping, {std::move(divided)}).open(), rewrite_through}};
}

}  // namespace

const Pass fold_reshape_into_reduction = {
    "fold_reshape_into_reduction", "let reductions keep or drop their axes as a Squeeze or Reshape behind them does",
    rules};

}  // namespace mlopt::graphopt
