#pragma once
#include <functional>
#include <unordered_set>

#include "core/exec/kernel.h"

namespace mlopt {

/// The values of a graph that are best kept channels-last, for kernels with these rules. Values that nodes tie together
/// (LayoutRule::kFollows) are decided as one: by the bytes that would have to be copied between layouts either way.
/// Only values whose rank is 3 to 5, whose shape is known and whose elements have 8, 16 or 32 bits are considered.
std::unordered_set<const Value*> channels_last_values(const Graph& graph,
                                                      const std::function<LayoutRule(const Node&)>& rule_of);

}  // namespace mlopt
