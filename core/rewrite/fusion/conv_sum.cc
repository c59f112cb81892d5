// Add(Conv(x, w, b), r) of one shape -> com.microsoft.FusedConv(x, w, b, r): the sum is made where r lies. ONNX Runtime
// computes a convolution in blocks of channels only where r comes in these too, as from another convolution; else the
// sum alone would cost more than it saves.
#include <algorithm>

#include "core/base/text.h"
#include "core/rewrite/fusion/joined_activation.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

bool is_convolution(const Node* node) { return node && (node->is("Conv") || node->is("FusedConv", "com.microsoft")); }

/// Is it a convolution's, or that of one and an activation which will join it? The rounds of all passes are fewer than
/// the blocks of a deep network, which wait for each other.
bool comes_in_blocks(const Value* v, const Builder& builder) {
  const Node* from = v->producer;
  if (!from || is_convolution(from)) return from;
  const std::vector<std::string> joining = split(kJoiningActivations, '|');
  const bool joins = from->domain.empty() && std::ranges::find(joining, from->op) != joining.end();
  const Value* x = joins ? from->input(0) : nullptr;
  return x && x->single_use() && is_convolution(x->producer) && !x->producer->attr("activation") &&
         with_activation({}, *from, builder);
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
    if (!comes_in_blocks(other, builder)) return Decline{"the other operand is no convolution's"};
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
