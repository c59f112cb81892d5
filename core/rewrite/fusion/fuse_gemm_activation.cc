// act(Gemm(a, b, c)) -> com.microsoft.FusedGemm(a, b, c), for ONNX Runtime.
#include <algorithm>

#include "core/ir/read_activation.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

/// Which of its parameters an activation has.
struct GemmActivation {
  std::string_view op;
  bool alpha = false, beta = false;
};

constexpr GemmActivation kActivations[] = {
    {"Elu", true}, {"HardSigmoid", true, true}, {"LeakyRelu", true}, {"Relu"}, {"Sigmoid"}, {"Softplus"}, {"Softsign"},
    {"Tanh"}};

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* gemm = m.node("gemm");
  if (builder.target != Target::kOrt) return Decline{"only ONNX Runtime has it"};
  if (qdq::is_quantized(*gemm, *m.root, builder)) return Decline{"they are quantized as one"};
  if (gemm->output(0)->type.dtype != DType::kF32) return Decline{"it is not float32"};
  const auto act = activation_of(builder.view(*m.root));
  if (!act) return act.error();
  std::vector<Attr> attrs = gemm->attrs;
  const auto* known = std::ranges::find(kActivations, m.root->op, &GemmActivation::op);
  attrs.push_back({"activation", m.root->op, ""});
  if (known->alpha) attrs.push_back({"activation_alpha", act->a, ""});
  if (known->beta) attrs.push_back({"activation_beta", act->b, ""});
  return Replacement{qdq::other_op(m, *gemm, builder, "FusedGemm", gemm->inputs(), std::move(attrs))};
}

std::vector<Rule> rules() {
  const Pattern gemm = Pattern::op("Gemm", {Pattern::any("a"), Pattern::any("b")}).open().as("gemm").single_use();
  std::vector<Rule> all;
  for (const GemmActivation& activation : kActivations) all.push_back({Pattern::op(activation.op, {gemm}), rewrite});
  return all;
}

}  // namespace

const Pass fuse_gemm_activation = {"fuse_gemm_activation", "an activation as part of the Gemm before it (--target ort)",
                                   rules};

}  // namespace mlopt::fusion
