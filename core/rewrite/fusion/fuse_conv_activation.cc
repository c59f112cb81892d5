// act(Conv(x, w, b)) -> com.microsoft.FusedConv(x, w, b), also where a sum has joined it: the activation runs over the
// output where it lies.
#include "core/rewrite/fusion/joined_activation.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* conv = m.node("conv");
  if (builder.target != Target::kOrt && builder.target != Target::kKernels) return Decline{"only ONNX Runtime has it"};
  if (conv->attr("activation")) return Decline{"it has an activation"};
  if (builder.target == Target::kOrt && qdq::is_quantized(*conv, *m.root, builder))
    return Decline{"they are quantized as one"};
  if (conv->output(0)->type.dtype != DType::kF32) return Decline{"it is not float32"};
  auto attrs = with_activation(conv->attrs, *m.root, builder);
  if (!attrs) return attrs.error();
  return Replacement{qdq::other_op(m, *conv, builder, "FusedConv", conv->inputs(), *std::move(attrs))};
}

std::vector<Rule> rules() {
  const auto after = [](Pattern conv) {
    return Rule{Pattern::op(kJoiningActivations, {std::move(conv).open().as("conv").single_use()}).open(), rewrite};
  };
  const std::vector<Pattern> inputs{Pattern::any("x"), Pattern::any("w")};
  return {after(Pattern::op("Conv", inputs)), after(Pattern::op("FusedConv", inputs).domain("com.microsoft"))};
}

}  // namespace

const Pass fuse_conv_activation = {"fuse_conv_activation",
                                   "an activation as part of the Conv before it (--target ort, on a CPU)", rules};

}  // namespace mlopt::fusion
