#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/train/options.h"
#include "cli/train/run.h"
#include "core/data/dataset.h"
#include "quantize/weight_rounding.h"

namespace mlopt::cli {

/// Quantization-aware training: a model that rounds as its deployed form will, in floats that can be trained.
struct Qat {
  Model model;
  std::vector<std::string> steps;      ///< initializers that are trained besides the weights
  std::function<Left(Model&)> deploy;  ///< makes of the trained model what is written
  quantize::Spec spec;                 ///< of weights that are rounded by themselves: `weights`
  bool weights =
      false;  ///< the model is as it is in float: its weights get corrections, and to score it, it is deployed
};

/// The model as `--qat` would quantize it, calibrated on `data`; throws Error{kBadInput} where no layer gains from the
/// format.
Qat begin_qat(const TrainOptions& options, const Model& model, const Dataset& data, Session& session);

/// A model that has weights in codes already, as the floats that these stand for; it is to be written in the same
/// codes.
Qat begin_coded(const Model& model, Session& session);

/// Has the training in the making round as that says; `plan.model` is that of `qat`, and has its last names. Where no
/// rate was asked for, it is lower than usual for weights that are rounded anew.
void join_qat(const TrainOptions& options, const Qat& qat, TrainingPlan& plan);

}  // namespace mlopt::cli
