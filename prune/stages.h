#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/calib/weights.h"

namespace mlopt::prune {

/// The end of each stage: at most `most` runs of weights, equally long as far as those that read the same value may
/// stay together; one more wherever the products of their inputs would be more than `bytes` (0: nobody asks for them).
std::vector<size_t> stage_ends(std::span<const Weight> weights, int64_t most, int64_t bytes);

}  // namespace mlopt::prune
