#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/state.h"
#include "core/train/builder.h"

namespace mlopt::train {

/// The graph that updates parameters, where the optimizer has done its part: here something may be done to what it
/// gives, such as a proximal step (Parikh and Boyd 2014), before it is kept and averaged.
class Constraint {
 public:
  Constraint(Builder& build, Value* step, const std::vector<std::string>& parameters,
             const std::vector<std::string>& gradients, StateStore& state, std::vector<StateUpdate>& updates)
      : build(build), step(step), parameters(parameters), gradients_(gradients), state_(state), updates_(updates) {}

  Builder& build;
  Value* const step;  ///< float32 scalar: number of this update, from 1
  const std::vector<std::string>& parameters;

  bool trains(std::string_view parameter) const;
  /// The parameter before this update, and behind what has been done to it so far.
  Value* before(const std::string& parameter);
  Value* next(const std::string& parameter);
  /// The gradient of the loss, summed over portions and ranks.
  Value* gradient(const std::string& parameter);
  /// It becomes `value`, of the same type.
  void replace(const std::string& parameter, Value* value);

  /// A value of the training's own that outlives updates: it begins with `start`. Checkpoints have it too.
  Value* keep(const std::string& name, const Tensor& start);
  /// Ends the update of such a value.
  void keep_next(const Value* kept, Value* next);

 private:
  const std::vector<std::string>& gradients_;  // as parameters
  StateStore& state_;
  std::vector<StateUpdate>& updates_;
};

}  // namespace mlopt::train
