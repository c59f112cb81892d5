// Gelu(x + bias) -> BiasGelu(x, bias), FastGelu(x + bias) -> FastGelu(x, bias), for ONNX Runtime; the standard's Gelu
// likewise.
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.target != Target::kOrt) return Decline{"only ONNX Runtime has it"};
  Value *x = m.value("x"), *bias = m.value("bias");
  const auto &dims = m.node("sum")->output(0)->type.dims, &row = bias->type.dims;
  if (x->type.dtype != DType::kF32 || !dims || !x->type.dims || x->type.dims->size() != dims->size())
    return Decline{"it is not float32 of known rank"};
  if (!row || row->size() != 1 || !(row->back() == dims->back()) || row->back().is(1) ||
      !(x->type.dims->back() == row->back()))
    return Decline{"the addend is not one row"};
  const bool fast = m.root->op == "FastGelu" || builder.view(*m.root).get_string("approximate", "none") == "tanh";
  return Replacement{builder.contrib(fast ? "FastGelu" : "BiasGelu", {x, bias}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto sum = [] {
    return Pattern::op("Add", {Pattern::any("x"), Pattern::constant("bias")}).any_order().as("sum").single_use();
  };
  return {{Pattern::op("Gelu|FastGelu", {sum()}).domain("com.microsoft"), rewrite},
          {Pattern::op("Gelu", {sum()}), rewrite}};
}

}  // namespace

const Pass bias_gelu = {"fuse_bias_gelu", "the bias before GELU as its input (--target ort)", rules};

}  // namespace mlopt::fusion
