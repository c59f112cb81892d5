// Gelu(x + bias) -> BiasGelu(x, bias), for ONNX Runtime on GPUs; the standard's Gelu likewise. On the CPU the operator
// takes a fifth longer than the two (1.32) or as long, so that it is written only where it is asked for.
#include "core/rewrite/fusion/fuse_bias_gelu.h"

#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.view(*m.root).get_string("approximate", "none") != "none") return Decline{"FastGelu takes the bias"};
  return join_bias(m, builder, "BiasGelu");
}

std::vector<Rule> rules() {
  return {{Pattern::op("Gelu", {biased("Add|Sum")}).domain("com.microsoft"), rewrite},
          {Pattern::op("Gelu", {biased("Add|Sum")}), rewrite}};
}

}  // namespace

Expected<Replacement> join_bias(const Match& m, Builder& builder, const char* op) {
  if (builder.target != Target::kOrt) return Decline{"only ONNX Runtime has it"};
  Value *x = m.value("x"), *bias = m.value("bias");
  const auto &dims = m.node("sum")->output(0)->type.dims, &row = bias->type.dims;
  if (x->type.dtype != DType::kF32 || !dims || !x->type.dims || x->type.dims->size() != dims->size())
    return Decline{"it is not float32 of known rank"};
  if (!row || row->size() != 1 || !(row->back() == dims->back()) || row->back().is(1) ||
      !(x->type.dims->back() == row->back()))
    return Decline{"the addend is not one row"};
  return Replacement{builder.contrib(op, {x, bias}, {}, m.root->output(0)->type)};
}

Pattern biased(const char* sums) {
  return Pattern::op(sums, {Pattern::any("x"), Pattern::constant("bias")}).any_order().as("sum").single_use();
}

const Pass fuse_bias_gelu = {
    "fuse_bias_gelu", "the bias before GELU as its input, for GPUs (--target ort; only where it is named)", rules};

}  // namespace mlopt::fusion
