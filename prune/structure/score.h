#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "prune/structure/groups.h"

namespace mlopt::prune {

enum class ChannelScore { kL2, kL1, kRandom };

/// How much each channel of each group matters: for every weight that has a part of the channel, the norm of that part
/// over the mean of the group's, and the mean of these. So neither the scale of a layer nor its size counts, and scores
/// of all groups can be compared: 1 is an average channel. A batch normalization counts as if folded into the weights.
std::vector<std::vector<double>> score_channels(const Relations& all, const std::vector<Group>& groups,
                                                ChannelScore score, uint64_t seed);

}  // namespace mlopt::prune
