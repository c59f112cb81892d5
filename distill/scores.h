#pragma once
#include "core/ir/graph.h"
#include "distill/losses.h"

namespace mlopt::distill {

/// The scores that a Softmax makes this output of, or the output itself: shares have no temperature.
const Value* scores_behind(const Value* output);

/// What an output is most likely to be followed by: class scores by their divergence, all else by its square.
const LossDef& usual_loss(const Value& output);

}  // namespace mlopt::distill
