#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "core/train/graphs.h"
#include "core/train/schedule.h"
#include "prune/penalties/ramp.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// What a dropout does to a training: the model's weights are read through noise, which the graph of updates draws
/// anew.
struct DropoutParts {
  std::function<void(train::LossArgs& args, train::LossGraph& loss)> noise;  ///< in the graph of gradients
  std::function<void(train::Constraint& at)> draw;                           ///< behind the optimizer
};

/// What of the training a dropout is made for.
struct DropoutSetting {
  const Model& model;
  const Spec& spec;
  PenaltyPlan plan;
  double rate;                                          ///< the highest learning rate
  std::function<bool(const std::string& name)> trains;  ///< is the parameter trained?
};

/// How weights are dropped while a model is trained, so that it can do without those that are removed then.
struct Dropout {
  std::string_view name, doc;
  bool channels;  ///< also whole ones, else single weights only
  DropoutParts (*make)(const DropoutSetting& setting);
};

/// The table; the first is the usual one.
std::span<const Dropout> dropouts();
/// By the name in a spec, or "" for the usual one. Throws Error{kUsage} where it does not go with the granularity.
const Dropout& find_dropout(std::string_view name, const Granularity& granularity);

/// Trains by `recipe` with the dropout of the spec, or what `make` makes.
void add_dropout(train::Recipe& recipe, const Model& model, const Spec& spec, const train::Schedule& schedule);
void add_dropout(train::Recipe& recipe, const Model& model, const Spec& spec, const train::Schedule& schedule,
                 DropoutParts (*make)(const DropoutSetting& setting));

// One a file.

/// Targeted dropout (Gomez et al. 2019): of the weights, or channels, that are the least at the time, as many as should
/// be gone, each is left out of an update with a probability that grows to 1.
DropoutParts targeted_dropout(const DropoutSetting& setting);
/// Variational dropout (Molchanov et al. 2017): each weight is read with noise of a variance that is learned; where it
/// is e^3 times the weight's square (log alpha > 3) or more the weight is not needed. The pull towards noise, the
/// Kullback-Leibler divergence from a log-uniform prior, is raised until as many are there as should be gone.
DropoutParts variational_dropout(const DropoutSetting& setting);

}  // namespace mlopt::prune
