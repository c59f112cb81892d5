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

std::vector<Rule> rules() {
  Pattern reduction =
      Pattern::op(
          "ReduceSum|ReduceMean|ReduceProd|ReduceMax|ReduceMin|ReduceL1|ReduceL2|ReduceSumSquare|ReduceLogSum|"
          "ReduceLogSumExp",
          {Pattern::any("x")})
          .open()
          .as("reduction")
          .single_use();
  return {{Pattern::op("Squeeze|Unsqueeze|Reshape|Flatten", {std::move(reduction)}).open(), rewrite}};
}

}  // namespace

const Pass fold_reshape_into_reduction = {
    "fold_reshape_into_reduction", "let reductions keep or drop their axes as a Squeeze or Reshape behind them does",
    rules};

}  // namespace mlopt::graphopt
