#pragma once
#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// A convolution of known shapes, and what it makes, row-major.
struct ConvShape {
  ConvArgs args;
  TensorDesc out;
};

/// Of Conv and com.microsoft.FusedConv, whose inputs are (x, weights, bias, addend).
Expected<ConvShape> conv_shape(const Site& site);

/// Of ConvTranspose, with the same inputs: `windows` are those of the convolution that goes the other way.
Expected<ConvShape> transposed_shape(const Site& site);
/// Of mlopt.ConvGradWeight, which makes the gradient of the weights of x and of the gradient of what a convolution
/// made.
Expected<ConvShape> weight_grad_shape(const Site& site);

/// How they run without a library of convolutions.
PlannedStep own_transposed(const Site& site, const ConvShape& shape);
PlannedStep own_weight_grad(const Site& site, const ConvShape& shape);
/// How it runs without a library of convolutions: by products where that is faster, else by a kernel.
PlannedStep own_conv(const Site& site, const ConvShape& shape);
/// By the kernel, which runs where channels come last too; `weights`: instead of the input.
PlannedStep plain_conv(const Site& site, const ConvShape& shape, std::shared_ptr<Brought> weights = nullptr);

}  // namespace mlopt::gpu
