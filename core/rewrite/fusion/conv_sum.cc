// Add(Conv(x, w, b), r) of one shape -> com.microsoft.FusedConv(x, w, b, r): the sum is made where r lies. In files for
// ONNX Runtime on request only: it joins them by itself where it computes in blocks of channels, and one that is joined
// already and whose r does not come in these, as behind a convolution of 13 channels, leaves the blocks (2.3 times
// slower in EfficientViT-M0).
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* conv = m.node("conv");
  Value* other = m.value("other");
  if (builder.target != Target::kOrt && builder.target != Target::kKernels) return Decline{"only ONNX Runtime has it"};
  if (conv->output(0)->type.dtype != DType::kF32) return Decline{"it is not float32"};
  const auto &sum = conv->output(0)->type.dims, &added = other->type.dims;
  if (!sum || !added || *sum != *added) return Decline{"the other operand may have another shape"};
  if (other->constant) return Decline{"the other operand is constant"};
  if (builder.target == Target::kOrt) {
    if (sum->size() > 5) return Decline{"it has more than three spatial axes"};
    const Node* from = other->producer;
    if (!from || !(from->is("Conv") || from->is("FusedConv", "com.microsoft")))
      return Decline{"the other operand is no convolution's"};
  }
  return Replacement{qdq::other_op(m, *conv, builder, "FusedConv",
                                   {conv->input(0), conv->input(1), conv->input(2), other}, conv->attrs)};
}

std::vector<Rule> rules() {
  Pattern conv = Pattern::op("Conv", {Pattern::any("x"), Pattern::any("w")}).open().as("conv").single_use();
  return {{Pattern::op("Add", {std::move(conv), Pattern::any("other")}).any_order(), rewrite}};
}

}  // namespace

const Pass conv_sum = {"fuse_conv_sum", "a sum of one shape as part of the Conv before it (--target ort, on a CPU)",
                       rules};

}  // namespace mlopt::fusion
