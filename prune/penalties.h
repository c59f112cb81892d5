#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/weights.h"
#include "core/train/constraint.h"
#include "prune/penalties/strength.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// What pulls weights to exactly zero while a model is trained: in the graph of updates, behind the optimizer.
struct Penalty {
  std::string_view name, doc;
  bool channels;  ///< of whole channels, else of single weights
  void (*add)(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan);
};

/// The table; the first of its kind is the usual one.
std::span<const Penalty> penalties();
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

}  // namespace mlopt::prune
