#pragma once
#include <map>
#include <string>
#include <vector>

#include "prune/prune.h"
#include "prune/structure/choose.h"

namespace mlopt::prune {

/// What groups are called: the first layer whose weight makes them, with a number where others have it too.
std::vector<std::string> group_names(const std::vector<Group>& groups);

/// What became of each group, in words.
std::vector<PrunedGroup> report_groups(const Relations& all, const std::vector<Group>& groups, const Removed& removed);

/// Nodes whose channels stay -> how many and why.
std::map<std::string, std::string> report_pinned(const std::vector<PinnedGroup>& pinned);

}  // namespace mlopt::prune
