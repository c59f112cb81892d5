// A normalization in float32 between Casts from 16 bits and back -> the normalization of 16 bits, which computes in
// float32 all the same. The scale that follows joins in norm_scale.
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* norm = m.node("norm");
  Value* x = m.value("x");
  const Type& type = m.root->output(0)->type;
  const bool half = x->type.dtype == DType::kF16 || x->type.dtype == DType::kBF16;
  if (!half || type.dtype != x->type.dtype || norm->output(0)->type.dtype != DType::kF32)
    return Decline{"the Casts are not from 16 bits to float32 and back"};
  if (norm->input(2) || only_number(norm->input(1)) != 1.0) return Decline{"it is scaled in float32"};
  const bool centered = norm->op == "LayerNormalization";
  if (builder.target == Target::kKernels) return Decline{"it is not float32"};
  if (!builder.has(centered ? 17 : 23) || norm->op == "SimplifiedLayerNormalization")
    return Decline{centered ? "LayerNormalization needs opset 17" : "RMSNormalization needs opset 23"};
  if (builder.view(*norm).get_int("stash_type", 1) != 1) return Decline{"it is not computed in float32"};
  Value* ones = builder.constant("scale", cast(*norm->input(1)->known_constant(), x->type.dtype));
  return Replacement{builder.op(norm->op, {x, ones}, norm->attrs, type)};
}

std::vector<Rule> rules() {
  Pattern widened = Pattern::op("Cast", {Pattern::any("x")});
  Pattern norm =
      Pattern::op("LayerNormalization|RMSNormalization|SimplifiedLayerNormalization", {std::move(widened)}).open();
  return {{Pattern::op("Cast", {std::move(norm).as("norm").single_use()}), rewrite}};
}

}  // namespace

const Pass fold_casts_into_norm = {"fold_casts_into_norm",
                                   "a normalization between Casts to float32 and back as one operator", rules};

}  // namespace mlopt::fusion
