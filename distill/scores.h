#pragma once
#include "core/ir/graph.h"
#include "distill/losses.h"

namespace mlopt::distill {

/// The scores that a Softmax along the classes, as kl_loss() finds them, makes this output of, or the output itself:
/// shares have no temperature. `opset` is that of the model.
Value* scores_behind(Value* output, int64_t opset);

/// What an output is most likely to be followed by: class scores by their divergence, all else by its square.
const LossDef& usual_loss(const Value& output);

/// Does a softmax make it, so that it is sure to be of classes?
bool is_of_shares(const Value& output);

}  // namespace mlopt::distill
