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

/// How it runs without a library of convolutions: by products where that is faster, else by a kernel.
PlannedStep own_conv(const Site& site, const ConvShape& shape);
/// By the kernel, which runs where channels come last too; `weights`: instead of the input.
PlannedStep plain_conv(const Site& site, const ConvShape& shape, std::shared_ptr<Brought> weights = nullptr);

}  // namespace mlopt::gpu
