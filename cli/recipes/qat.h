#pragma once
#include <string>
#include <vector>

#include "cli/train/options.h"
#include "core/data/dataset.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// Quantization-aware training: a model that rounds as its deployed form will, in floats that can be trained.
struct Qat {
  quantize::Spec spec;
  Model model;
  std::vector<std::string> steps;  ///< initializers that are trained besides the weights
};

/// The model as `--qat` would quantize it, calibrated on `data`; throws Error{kBadInput} where no layer gains from the
/// format.
Qat begin_qat(const TrainOptions& options, const Model& model, const Dataset& data, Session& session);

/// A model that has weights in codes already, as the floats that these stand for; it is to be written in the same
/// codes.
Qat begin_coded(const Model& model, Session& session);

}  // namespace mlopt::cli
