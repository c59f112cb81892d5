#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/weights.h"
#include "core/train/constraint.h"
#include "prune/dropouts.h"
#include "prune/penalties/strength.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// What pulls weights to exactly zero while a model is trained: in the graph of updates, behind the optimizer, or by a
/// term of the loss and noise.
struct Penalty {
  std::string_view name, doc;
  bool elements, channels;  ///< of single weights, of whole channels
  void (*add)(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan);
  DropoutParts (*gates)(const DropoutSetting& setting) = nullptr;  ///< instead
};

/// The table; the first of its kind is the usual one.
std::span<const Penalty> penalties();
/// Trains by `recipe` under the penalty of the spec. Model and spec have to outlive the making of the graphs.
void add_penalty(train::Recipe& recipe, const Model& model, const Spec& spec, const train::Schedule& schedule);
/// By the name in a spec, or "" for the usual one of the granularity. Throws Error{kUsage} where it does not go with
/// the granularity.
const Penalty& find_penalty(std::string_view name, const Granularity& granularity);

// One a file.

/// LASSO (Tibshirani 1996), trimmed (Bertsimas et al. 2017): the weights that are the least at the time, as many as
/// should be gone, are moved towards zero by the same amount (soft thresholding). Sizes and amounts are in units of the
/// root mean square of the row as it was at first, so that the scale of an output does not count.
void add_l1(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan);
/// Group LASSO (Yuan and Lin 2006) over coupled channels, trimmed likewise: what belongs to a channel, in all weights,
/// shrinks together. A channel that is gone has no gradient and does not come back.
void add_group_lasso(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan);
/// Network slimming (Liu et al. 2017), trimmed likewise: of a channel only its scales are pulled, those of a
/// BatchNormalization or a constant of one number for each; in groups that have none, all of it, as by group LASSO.
/// Throws Error{kBadInput} where no group has one.
void add_slimming(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan);
/// Growing regularization (Wang et al. 2021, GReg-1): what is the least at first is chosen once; its squares are
/// penalized, by more with each update of the first half, so that the others take over what it did; then it is removed.
void add_greg(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan);
/// L0 regularization (Louizos et al. 2018): what is read is multiplied by gates, drawn from hard concrete distributions
/// that are learned; that one of the least is open costs more until as many are closed as should be gone.
DropoutParts l0_gates(const DropoutSetting& setting);

}  // namespace mlopt::prune
