#pragma once
#include "backends/cpu/activation.h"
#include "backends/cpu/conv_shape.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// A float32 Conv or com.microsoft.FusedConv: dst = activation(conv(src, weights) + bias + addend).
struct ConvSite {
  enum Input { kSource, kWeights, kBias, kAddend };

  ConvShape shape;
  Activation act;
  bool bias, addend;  ///< are given
};

/// `halves`: source and addend may be in bfloat16.
Expected<ConvSite> float_conv(const Site& site, bool halves = false);

/// The same with constant weights.
Expected<ConvSite> constant_conv(const Site& site);

/// The source and the destination are at hand channels-last.
bool is_channels_last(const Site& site, const ConvSite& conv);

/// constant_conv(), declined where they are not.
Expected<ConvSite> channels_last_conv(const Site& site);

/// The step of a kernel that reads and writes channels-last, has packed the weights, and may write where the addend
/// lies; without `run`.
PlannedStep channels_last_step(const Site& site, const ConvSite& conv);

}  // namespace mlopt::cpu
