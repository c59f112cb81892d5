// Gelu(x + bias) -> Gelu(Sum(x, bias)), for ONNX Runtime, which makes BiasGelu of the first when it loads the file; on
// the CPU that takes a fifth longer than the two take, or as long in older versions. Where all sizes are known it makes
// Gemm of the product and the bias, so that nothing has to be done.
#include "core/rewrite/fusion/fuse_bias_gelu.h"
#include "core/rewrite/fusion/loaded_gemm.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.target != Target::kOrt) return Decline{"other runtimes add before GELU"};
  if (!builder.has(8)) return Decline{"Sum broadcasts from opset 8 on"};
  Value *x = m.value("x"), *bias = m.value("bias"), *total = m.node("sum")->output(0);
  if (!bias->type.dims || bias->type.dims->size() != 1) return Decline{"ONNX Runtime joins rows only"};
  if (x->producer && becomes_gemm(*x->producer)) return Decline{"the bias joins the product"};
  if (builder.view(*m.root).get_string("approximate", "none") != "none") return Decline{"FastGelu takes the bias"};
  Value* sum = builder.op("Sum", {x, bias}, {}, total->type);
  const std::vector<Attr>& attrs = m.root->attrs;
  return Replacement{m.root->domain.empty() ? builder.op("Gelu", {sum}, attrs, m.root->output(0)->type)
                                            : builder.contrib("Gelu", {sum}, attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Gelu", {biased()}).domain("com.microsoft"), rewrite},
          {Pattern::op("Gelu", {biased()}), rewrite}};
}

}  // namespace

const Pass add_before_gelu_to_sum = {
    "add_before_gelu_to_sum", "keep ONNX Runtime from joining a bias with the GELU behind it (--target ort)", rules};

}  // namespace mlopt::fusion
