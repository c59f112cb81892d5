#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/train/batch_inputs.h"
#include "core/train/constraint.h"
#include "core/train/dropout.h"
#include "core/train/losses.h"
#include "core/train/mixed_precision.h"
#include "core/train/optimizers.h"
#include "core/train/recompute.h"
#include "core/train/trainable.h"

namespace mlopt::train {

/// What decides how a model is trained, but for the data and for how long.
struct Recipe {
  const LossDef* loss = nullptr;
  std::function<LossGraph(LossArgs&)> objective = {};  ///< builds another loss in its place
  double label_smoothing = 0;
  bool mixed = false;  ///< labels are those of mixed samples
  const OptimizerDef* optimizer = nullptr;
  OptimizerSettings settings;
  TrainableChoice choice;
  std::string output;                          ///< whose loss it is; "": the first
  bool train_batch_norm = true;                ///< false: normalize by the running statistics, which stay
  std::optional<DropoutChoice> dropout;        ///< nothing: they and random numbers are those of the model
  bool keep_zeros = false;                     ///< weights of a matrix or filter that are 0 stay 0
  bool accumulate = false;                     ///< gradients of several runs add up
  double clip = 0;                             ///< largest norm of all gradients together; 0: any
  Recompute recompute;                         ///< of the forward pass
  double average = 0;                          ///< decay of moving averages of the parameters; 0: none
  std::function<void(Constraint&)> constrain;  ///< what is done to parameters after each update
  std::vector<std::string> corrected;          ///< initializers that are read with a correction, see add_corrections()
  MixedPrecision precision;                    ///< of the products of the model, not of the loss
};

/// A model as two graphs over one state.
struct TrainingGraphs {
  /// Inputs: the model's, then what the loss takes, the labels last, then the keys of dropouts where there are any,
  /// then where `scaled` the loss's scale, then with `accumulate` a scalar that the gradients so far are multiplied by.
  /// Outputs: the model's, then the loss. Leaves the gradients in the state.
  Model gradients;
  std::vector<StateUpdate> gradient_updates;
  /// Inputs: learning rate, number of the update from 1, factor of the gradients (all float32 scalars). Output: the
  /// norm of all gradients where they are clipped.
  Model update;
  std::vector<StateUpdate> parameter_updates;
  std::string labels;       ///< name of the input of `gradients` that takes them; "": none does
  int64_t classes = 0;      ///< as LossGraph::classes
  bool within_one = false;  ///< as LossGraph::within_one
  Dropouts dropouts;
  std::shared_ptr<StateStore> state;
  std::vector<std::string> parameters, statistics;  ///< names of what is trained; of running statistics
  std::vector<std::string> gradient_states;         ///< names of the gradients in the state, as `parameters`
  int64_t trained = 0;                              ///< numbers in `parameters`
  Recomputed recomputed;
  HalfProducts products;
  std::map<size_t, Tensor> fixed;  ///< as BatchInputs::fixed: the graph of gradients is that of these values
  bool scaled = false;  ///< the backward pass is that of the loss times a scale; the state's gradients are not scaled
};

/// Throws Error where the model cannot be trained.
TrainingGraphs make_graphs(const Model& model, const BatchInputs& inputs, const Recipe& recipe, TypeRule types);

/// Where the state keeps the weights that a training gives: the parameters or their averages, and the statistics.
std::vector<std::string> results(const TrainingGraphs& graphs);

/// Puts what was trained back into the model that the graphs were made of.
void store_weights(Model& model, const TrainingGraphs& graphs);

}  // namespace mlopt::train
