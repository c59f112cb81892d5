// BatchNormalization(Conv(x, w, b)) -> Conv(x, w', b'), ConvTranspose likewise:
//   w'[c] = w[c] g, b'[c] = (b[c] - mean) g + beta, with g = gamma / sqrt(var + epsilon).
#include <cmath>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView bn = builder.view(*m.root);
  if (bn.get_int("training_mode", 0) || m.root->outputs().size() > 1) return Decline{"it is in training mode"};
  if (bn.opset() < 7 && bn.get_int("is_test", 0) == 0) return Decline{"it is in training mode"};
  if (bn.get_int("spatial", 1) != 1) return Decline{"its statistics are not by channel"};
  const std::vector<double> gamma = to_doubles(m.constant("gamma")), beta = to_doubles(m.constant("beta")),
                            mean = to_doubles(m.constant("mean")), var = to_doubles(m.constant("var"));
  Node* conv = m.node("conv");
  const auto layout = ConvWeight::of(*conv, builder);
  if (!layout) return layout.error();
  const auto channels = static_cast<size_t>(layout->channels());
  if (gamma.size() != channels || beta.size() != channels || mean.size() != channels || var.size() != channels)
    return Decline{"its channel count differs from the convolution's"};
  const double epsilon = bn.get_float("epsilon", 1e-5f);
  std::vector<double> scale, shift;
  for (size_t c = 0; c < gamma.size(); ++c) {
    scale.push_back(gamma[c] / std::sqrt(var[c] + epsilon));
    shift.push_back(beta[c] - mean[c] * scale[c]);
  }
  return affine_convolution(conv, scale, shift, builder);
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
