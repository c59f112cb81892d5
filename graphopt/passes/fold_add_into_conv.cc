// Conv(x, w, b) + c -> Conv(x, w, b + c) for one summand or one for each channel; Sub and ConvTranspose likewise.
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* conv = m.node("conv");
  const auto layout = ConvWeight::of(*conv, builder);
  if (!layout) return layout.error();
  auto shift = per_channel(m.constant("c"), layout->channels(), layout->weight.rank());
  if (!shift || aligns_axes(*m.root)) return Decline{"its summand is not by channel"};
  if (m.root->op == "Sub")
    for (double& s : *shift) s = -s;
  return affine_convolution(conv, std::vector<double>(shift->size(), 1.0), *shift, builder);
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add", {constant_convolution(), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Sub", {constant_convolution(), Pattern::constant("c")}), rewrite}};
}

}  // namespace

const Pass fold_add_into_conv = {"fold_add_into_conv",
                                 "fold a constant summand into the Conv or ConvTranspose before it", rules};

}  // namespace mlopt::graphopt
