#pragma once
#include <cstdint>
#include <string>

#include "core/train/constraint.h"

namespace mlopt::prune {

/// When a penalty works: what it removes grows to `sparsity` along a cubic (Zhu and Gupta 2017) over the first half of
/// the updates, is held there for a quarter, and in the last quarter stays removed while the rest recovers.
struct PenaltyPlan {
  double sparsity = 0.5;
  int64_t steps = 0;

  double ramp() const { return 0.5 * static_cast<double>(steps); }
  double end() const { return 0.75 * static_cast<double>(steps); }
};

/// How strongly a penalty pulls to zero, in the graph of updates: more while less is zero than there should be, less
/// while more is. So it is raised until the target is met, whatever the scale of the loss, the rate and the optimizer.
class Strength {
 public:
  /// `name` is that of a value of the training's state; the plan's share is one of `total`.
  Strength(train::Constraint& at, const std::string& name, int64_t total, const PenaltyPlan& plan);

  /// A float32 scalar: how far what has a norm of 1 is moved towards zero in this update; 0 in the last quarter.
  Value* now() const { return now_; }
  /// A bool scalar: what is zero stays zero.
  Value* frozen() const { return frozen_; }
  /// The size below which lie as many of a list, [N], as its part of `total` should be zero by now: float32 scalar.
  Value* first_to_stay(Value* sizes) const;
  /// Ends the update: so many are. `zeros`: float32 scalar.
  void adapt(Value* zeros);

 private:
  train::Constraint& at_;
  double total_;
  Value *kept_, *frozen_, *now_, *wanted_;  // the last: how many of `total` should be zero by now
};

}  // namespace mlopt::prune
