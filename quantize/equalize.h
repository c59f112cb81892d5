#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/calib/observe.h"
#include "core/ir/model.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

struct Equalized {
  int64_t pairs = 0;                                   ///< of layers that factors moved between
  std::map<std::string, std::vector<double>> divided;  ///< value between two -> what each of its channels is divided by
};

/// Cross-layer equalization (Nagel et al. 2019, "Data-Free Quantization Through Weight Equalization and Bias
/// Correction"): where one layer alone reads the channels of another, through nothing but what lets a factor pass
/// (Relu, LeakyRelu, pooling, ...), each channel is divided by s in the first layer and multiplied by s in the second,
/// with the s that gives both weights the same range there, over and over until chains of layers have settled. The
/// model computes what it did. A Clip from 0 to h lets factors of channels pass that stay below h before and after, on
/// data; those that reach it stay as they are, and without data (null) none passes.
Equalized equalize(Model& model, const Spec& spec, const Looking* data);

}  // namespace mlopt::quantize
