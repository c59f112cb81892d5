#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/train/constraint.h"
#include "core/train/trainer.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// What a schedule does to a training.
struct ScheduleParts {
  std::function<void(train::Constraint& at)> constrain;  ///< behind the optimizer
  train::TrainingHooks hooks;
};

using Movements = std::map<std::string, Tensor>;

/// What of the training a schedule is made for.
struct ScheduleSetting {
  const Model& model;  ///< what is trained, as it is at first
  const Spec& spec;
  int64_t steps = 0;  ///< updates, from the first to the last
  /// `now`, which is the model with other weights, with zeros in place of what the spec removes; `movements` are null
  /// where the method does not look at them.
  std::function<Model(const Model& now, const Spec& spec, const Movements* movements)> prune;
};

/// When it is removed in the course of a training.
struct PruningSchedule {
  std::string_view name, doc;
  ScheduleParts (*make)(const ScheduleSetting& setting);  ///< null: not in the course of one
};

/// The table; the first is the usual one.
std::span<const PruningSchedule> schedules();

/// Of the spec, or the usual one of its method. What `prune` refers to has to outlive the parts. Throws Error{kUsage}
/// where the training is too short for what the spec says.
ScheduleParts schedule_parts(const ScheduleSetting& setting);

/// The share of the target that is gone at `progress` (0 to 1) of the time in which it grows (Zhu and Gupta 2017).
double cubic_share(double progress);

// One a file.

/// Zhu and Gupta 2017, "To prune, or not to prune": the share grows along a cubic over the first half of the updates,
/// what is the least then is removed and stays so, and the rest recovers in the second half.
ScheduleParts gradual(const ScheduleSetting& setting);
/// Frankle and Carbin 2019, "The Lottery Ticket Hypothesis"; Frankle et al. 2020: the model is trained, the same share
/// of what is left is removed, what stays goes back to what it was behind an early update, and so on; then it is
/// trained once more.
ScheduleParts lottery(const ScheduleSetting& setting);
/// Renda et al. 2020, "Comparing Rewinding and Fine-tuning": the same, but only the learning rate, the order of the
/// data and the optimizer go back: weights keep what they have learned.
ScheduleParts rate_rewind(const ScheduleSetting& setting);

}  // namespace mlopt::prune
