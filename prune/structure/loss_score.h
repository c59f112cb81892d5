#pragma once
#include "prune/slopes.h"
#include "prune/structure/score.h"

namespace mlopt::prune {

/// For the axes of float weights that the groups have: the mean over samples of what the loss says of all weights w at
/// a position, by their gradients g: with `squared` the sum of (w g)^2, else |the sum of w g|, which is how the loss
/// changes when all of them grow by the same factor. Gives the number of samples too.
std::pair<AxisScores, int64_t> loss_scores(const Model& model, const Relations& all, const std::vector<Group>& groups,
                                           bool squared, const Means& means);

}  // namespace mlopt::prune
