#pragma once
#include "prune/prune.h"
#include "prune/structure/choose.h"

namespace mlopt::prune {

/// Zeros the weights of these channels in the model of the relations, whose shapes stay.
void clear_channels(const Relations& all, const std::vector<Group>& groups, const Removed& removed);
/// Fits what is left of the weights, layer by layer, to what the layers gave in the original (see fitted()).
void refit(Model& model, const Model& original, const Means& means);

}  // namespace mlopt::prune
