// Conv(x, w, b) * c -> Conv(x, w c, b c) for one factor or one for each channel; Div and ConvTranspose likewise.
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* conv = m.node("conv");
  const auto layout = ConvWeight::of(*conv, builder);
  if (!layout) return layout.error();
  auto scale = per_channel(m.constant("c"), layout->channels(), layout->weight.rank());
  if (!scale || aligns_axes(*m.root)) return Decline{"its factor is not by channel"};
  if (m.root->op == "Div")
    for (double& s : *scale) s = 1 / s;
  return affine_convolution(conv, *scale, std::vector<double>(scale->size(), 0.0), builder);
}

std::vector<Rule> rules() {
  return {{Pattern::op("Mul", {constant_convolution(), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Div", {constant_convolution(), Pattern::constant("c")}), rewrite}};
}

}  // namespace

const Pass fold_mul_into_conv = {"fold_mul_into_conv",
                                 "fold a constant factor into the Conv or ConvTranspose before it", rules};

}  // namespace mlopt::graphopt
