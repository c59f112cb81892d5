#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/train/options.h"
#include "cli/verb/left.h"
#include "core/data/dataset.h"
#include "core/ir/model.h"

namespace mlopt::cli {

/// A training in the making, before its graphs are.
struct TrainingPlan {
  Model model;  ///< what is trained
  std::unique_ptr<Dataset> data;
  train::BatchInputs inputs;  ///< of the model, in a portion of a batch
  train::LoopSettings loop;
  train::Recipe recipe;
  std::string loss;                    ///< its name in the report
  std::string spec;                    ///< all that makes the same training again
  std::vector<const Model*> teachers;  ///< what it learns from, as read
  train::TrainingHooks hooks;
  std::function<Left(Model&)> deploy;  ///< makes of what was trained what is written; empty: it is that
  bool scored_deployed = false;        ///< what is scored while training is made so first; else it is the model itself
};

/// What a command does otherwise than `train`; each may be empty.
struct TrainingSteps {
  std::function<Model(const Model& source)> model;                     ///< in place of the source itself
  std::function<std::unique_ptr<Dataset>(const Model& trained)> data;  ///< in place of --data
  std::function<void(TrainingPlan& plan)> adapt;                       ///< changes what is planned
  std::function<void(Model& trained, VerbResult& result)> finish;  ///< changes what was trained, before it is written
};

/// Trains MODEL as the options say and writes the result: all of `train`.
void run_training(const TrainOptions& o, const TrainingSteps& steps, Session& session);

}  // namespace mlopt::cli
