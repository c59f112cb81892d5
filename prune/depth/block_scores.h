#pragma once
#include <vector>

#include "prune/depth/blocks.h"
#include "prune/prune.h"

namespace mlopt::prune {

struct BlockScores {
  std::vector<double> scores;  ///< of each block: how much it is needed
  int64_t samples = 0;         ///< that were seen
};

/// By the method of the spec: the norm of the weights that it has ("magnitude"), how the loss changes with them
/// ("taylor", "fisher"), how much it turns what it is given ("influence"), or by chance.
BlockScores score_blocks(const Model& model, const std::vector<Block>& blocks, const Spec& spec, const Means& means);

// The methods, one a file.

/// 1 - cos(x, x + f(x)), the mean over samples and, of values of three axes, the places before the last (Men et al.
/// 2024, "ShortGPT": block influence).
BlockScores block_influence(const Model& model, const std::vector<Block>& blocks, const Means& means);

}  // namespace mlopt::prune
