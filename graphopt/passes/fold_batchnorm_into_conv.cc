// BatchNormalization(Conv(x, w, b)) -> Conv(x, w', b'), ConvTranspose likewise:
//   w'[c] = w[c] g, b'[c] = (b[c] - mean) g + beta, with g = gamma / sqrt(var + epsilon).
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto affine = affine_of(builder.view(*m.root));
  if (!affine) return affine.error();
  Node* conv = m.node("conv");
  const auto layout = ConvWeight::of(*conv, builder);
  if (!layout) return layout.error();
  if (static_cast<int64_t>(affine->scale.size()) != layout->channels())
    return Decline{"its channel count differs from the convolution's"};
  return affine_convolution(conv, affine->scale, affine->shift, builder);
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("BatchNormalization", {constant_convolution(), Pattern::constant("gamma"), Pattern::constant("beta"),
                                          Pattern::constant("mean"), Pattern::constant("var")}),
       rewrite}};
}

}  // namespace

const Pass fold_batchnorm_into_conv = {"fold_batchnorm_into_conv",
                                       "fold BatchNormalization into the Conv or ConvTranspose before it", rules};

}  // namespace mlopt::graphopt
