#pragma once
#include <string>
#include <vector>

#include "prune/schedules.h"

namespace mlopt::prune {

/// Masks of the weights of a model while it is trained: states of the training, so that a checkpoint has them.
class TrainedMasks {
 public:
  explicit TrainedMasks(const ScheduleSetting& setting);

  /// What is removed stays zero whatever the optimizer does; movements, where the method asks for them, are summed up.
  /// Throws Error{kUsage} where a weight that is to be pruned is not trained.
  void constrain(train::Constraint& at) const;
  /// Removes the spec's target times `share` (from 0 to 1) of the weights as they stand in the state; of channels all
  /// that belongs to them becomes zero.
  void remove(double share, const train::TrainingGraphs& graphs) const;
  /// Likewise so much of all weights, or of all channels; of N:M as many of M as come nearest.
  void remove_of_all(double sparsity, const train::TrainingGraphs& graphs) const;
  /// Puts zeros where masks are, after weights were changed.
  void apply(const train::TrainingGraphs& graphs) const;

  static bool is_mask(std::string_view state);

 private:
  void remove(Spec spec, const train::TrainingGraphs& graphs) const;
  Movements movements(const train::TrainingGraphs& graphs) const;

  Model model_;  // as it is at first
  Spec spec_;
  decltype(ScheduleSetting::prune) prune_;
  std::vector<std::string> weights_;
};

}  // namespace mlopt::prune
