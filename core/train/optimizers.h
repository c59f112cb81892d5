#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/state.h"
#include "core/train/builder.h"

namespace mlopt::train {

/// Settings that the optimizers share; each uses those that it has.
struct OptimizerSettings {
  double momentum = 0.9;
  bool nesterov = true;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
};

/// One parameter in the graph that updates all of them.
struct UpdateArgs {
  Builder& build;
  Value *param, *grad;
  Value *rate, *step, *scale;  ///< scalars: learning rate; number of this update, from 1; of the gradient
  double weight_decay;         ///< of this parameter
  const OptimizerSettings& settings;
  StateStore& state;  ///< gets what the optimizer keeps, zero at first
  std::vector<StateUpdate>& updates;
};

struct OptimizerDef {
  std::string_view name;
  std::string_view doc;  ///< one line
  double rate;           ///< the learning rate where none is given
  void (*update)(UpdateArgs&);
};

// One a file.
void sgd_update(UpdateArgs& args);
void adam_update(UpdateArgs& args);
void adamw_update(UpdateArgs& args);
void lamb_update(UpdateArgs& args);

std::span<const OptimizerDef> optimizers();
/// Null where there is none of that name.
const OptimizerDef* find_optimizer(std::string_view name);

/// A value that the optimizer keeps for the parameter, zero at first: "NAME/kind".
Value* add_moment(UpdateArgs& args, std::string_view kind);
/// One node of domain `mlopt` that updates the parameter and `moments`, given parameter, gradient, moments, rate, step
/// and scale.
void add_update(UpdateArgs& args, std::string_view op, const std::vector<Value*>& moments, std::vector<Attr> attrs);
/// add_update() with the two moments and the settings of Adam.
void add_adam(UpdateArgs& args, std::string_view op);

}  // namespace mlopt::train
