#pragma once
#include <string>
#include <vector>

#include "core/exec/plan.h"
#include "core/ir/graph.h"

namespace mlopt {

/// Makes the values of these names outputs, behind those that the graph has, so that rewrites keep them. False: one of
/// them is not in the graph itself, but in a body or nowhere.
bool watch(Graph& graph, const std::vector<std::string>& names);

/// Whether a run of the plan may be given up when values were looked at already: see ShapeSurprise.
bool may_be_given_up(const Plan::Parts& parts);

}  // namespace mlopt
