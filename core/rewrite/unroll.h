#pragma once
#include "core/rewrite/pass.h"

namespace mlopt {

/// Loops whose trip count is known and that nothing ends earlier, and Scans (opset 9 and later) of known length ->
/// their bodies so many times, where a body runs once or all trips together make at most `most_nodes` nodes. Inner ones
/// come first.
void unroll(Model& model, const PassContext& context, int64_t most_nodes, PassTally& tally);

}  // namespace mlopt
