#pragma once
#include "prune/depth/blocks.h"
#include "prune/prune.h"

namespace mlopt::prune {

/// prune() for the granularity "layer": whole residual blocks go, those of the lowest scores.
Pruned shorten_model(const Model& source, const Spec& spec, const Means& means);

/// A copy of the model in which what these blocks add is not there; the additions are left as Identity.
Model bypass_blocks(const Model& model, const std::vector<Block>& blocks);
/// A copy in which they add zero.
Model mask_blocks(const Model& model, const std::vector<Block>& blocks);

}  // namespace mlopt::prune
