#pragma once
#include "prune/prune.h"
#include "prune/structure/choose.h"

namespace mlopt::prune {

/// Zeros the weights of these channels in the model, whose shapes stay, and fits what is left of the others, layer by
/// layer, to what the layers gave before (see fitted()). Gives the number of samples that were looked at.
int64_t refit(Model& model, const Relations& all, const std::vector<Group>& groups, const Removed& removed,
              const Means& means);

}  // namespace mlopt::prune
