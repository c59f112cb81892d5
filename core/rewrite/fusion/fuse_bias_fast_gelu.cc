// FastGelu(x + bias) -> FastGelu(x, bias), for ONNX Runtime; the standard's Gelu by tanh likewise.
#include "core/rewrite/fusion/fuse_bias_gelu.h"
#include "core/rewrite/fusion/loaded_gemm.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const bool standard = m.root->domain.empty();
  if (standard && builder.view(*m.root).get_string("approximate", "none") != "tanh")
    return Decline{"it is GELU by the error function"};
  const Node* before = m.value("x")->producer;
  if (before && becomes_gemm(*before)) return Decline{"the bias joins the product"};
  return join_bias(m, builder, "FastGelu");
}

std::vector<Rule> rules() {
  return {{Pattern::op("FastGelu", {biased()}).domain("com.microsoft"), rewrite},
          {Pattern::op("Gelu", {biased()}), rewrite}};
}

}  // namespace

const Pass fuse_bias_fast_gelu = {"fuse_bias_fast_gelu", "the bias before GELU by tanh as its input (--target ort)",
                                  rules};

}  // namespace mlopt::fusion
