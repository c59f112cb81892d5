#pragma once
#include "prune/prune.h"

namespace mlopt::prune {

/// Granularities that make shapes smaller: channels (also neurons and dimensions of heads) or whole heads, with
/// everything that is coupled to them. Before the result is given, it is proven on generated inputs to compute what the
/// source does when these channels are zero; throws Error{kInternal} when it does not.
Pruned shrink_model(const Model& source, const Spec& spec, const Means& means);

}  // namespace mlopt::prune
