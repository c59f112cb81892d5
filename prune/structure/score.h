#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "prune/structure/groups.h"

namespace mlopt::prune {

enum class ChannelScore { kL2, kL1, kRandom };

/// For axes that tell how much channels matter: what each position does. By their numbers.
using AxisScores = std::map<size_t, std::vector<double>>;

/// How much each channel of each group matters: the mean over the group's axes that tell of the sum over the channel's
/// positions; 0 where none does.
std::vector<std::vector<double>> score_channels(const std::vector<Group>& groups, const AxisScores& axes);

/// How much each channel of each group matters: for every weight that reads it, the norm of that part over the mean of
/// the group's, and the mean of these. So neither the scale of a layer nor its size counts, and scores of all groups
/// can be compared: 1 is an average channel. What makes a channel says little of how large it is, for it is normalized
/// next, or was before the normalization was folded; but where nothing makes it the score is 0. Where no weight reads
/// the group, those that make it tell.
std::vector<std::vector<double>> score_channels(const Relations& all, const std::vector<Group>& groups,
                                                ChannelScore score, uint64_t seed);

/// Gives channels of which nothing is left in any weight a score below all others, whatever the method says of them.
/// With `compared` throws Error{kBadInput} for a weight that is NaN or infinite.
void put_zeros_first(const Relations& all, const std::vector<Group>& groups, std::vector<std::vector<double>>& scores,
                     bool compared = true);

}  // namespace mlopt::prune
