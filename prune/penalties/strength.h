#pragma once
#include <cstdint>
#include <string>

#include "prune/penalties/ramp.h"

namespace mlopt::prune {

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
  const Ramp& ramp() const { return ramp_; }
  /// Ends the update: so many are. `zeros`: float32 scalar.
  void adapt(Value* zeros);

 private:
  train::Constraint& at_;
  Ramp ramp_;
  Value *kept_, *frozen_, *now_;
};

}  // namespace mlopt::prune
