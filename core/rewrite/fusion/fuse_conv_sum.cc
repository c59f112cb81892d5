// Add(Conv(x, w, b), r) of one shape -> com.microsoft.FusedConv(x, w, b, r): the sum is made where r lies. ONNX Runtime
// computes a convolution in blocks of channels only where r comes in these too, as from another convolution, and, with
// a sum, where it has a bias. One that leaves the blocks costs more than its sum (EfficientViT-M0: 2.3 times slower).
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

/// Does ONNX Runtime compute the convolution in blocks of channels, on every processor?
bool computes_in_blocks(const Node* conv, const Builder& builder) {
  constexpr int64_t kBlock = 16, kLeast = 8;  // the blocks of AVX-512, and of others
  if (!conv || !(conv->is("Conv") || conv->is("FusedConv", "com.microsoft"))) return false;
  const Tensor* w = conv->input(1) ? conv->input(1)->known_constant() : nullptr;
  if (!w || w->rank() < 3) return false;
  const int64_t group = builder.view(*conv).get_int("group", 1), out = w->dim(0), in = w->dim(1);
  if (out % kBlock != 0) return false;
  if (group == 1) return in <= kLeast || in % kBlock == 0;
  return (group == out && in == 1) || (in % kBlock == 0 && out / group % kBlock == 0);
}

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
    if (!conv->input(2) || !conv->input(2)->known_constant()) return Decline{"it has no constant bias"};
    if (!computes_in_blocks(conv, builder) || !computes_in_blocks(other->producer, builder))
      return Decline{"the operands are not computed in blocks of channels"};
  }
  return Replacement{qdq::other_op(m, *conv, builder, "FusedConv",
                                   {conv->input(0), conv->input(1), conv->input(2), other}, conv->attrs)};
}

std::vector<Rule> rules() {
  Pattern conv = Pattern::op("Conv", {Pattern::any("x"), Pattern::any("w")}).open().as("conv").single_use();
  return {{Pattern::op("Add", {std::move(conv), Pattern::any("other")}).any_order(), rewrite}};
}

}  // namespace

const Pass fuse_conv_sum = {"fuse_conv_sum",
                            "a sum of one shape as part of the Conv before it (--target ort, on a CPU)", rules};

}  // namespace mlopt::fusion
