#pragma once
#include <functional>

#include "cli/distill/steps.h"
#include "cli/verb/verb.h"
#include "prune/schedules.h"

namespace mlopt::cli {

/// A training in the course of which a model learns to do without what goes.
struct SparseTraining {
  prune::Spec spec;
  bool distill = false;  ///< by what the model gives itself, else by labels
  /// Removes what the training was for from what was learned of `source`.
  std::function<VerbResult(const Model& source, const Model& trained)> finish;
  /// As prune::ScheduleSetting's.
  std::function<Model(const Model& now, const prune::Spec& spec, const prune::Movements* movements)> prune;
};

/// Trains MODEL so that it can do without what the spec removes: under a penalty that pulls it to zero, with a dropout
/// of it, or with more and more of it removed. Throws Error{kUsage} and Error{kUnsupported} for options of the training
/// that do not go with it.
void run_sparse_training(const DistillOptions& options, const SparseTraining& how, Session& session);

}  // namespace mlopt::cli
