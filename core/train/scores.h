#pragma once
#include "core/ir/graph.h"

namespace mlopt::train {

/// The scores that a Softmax along `axis`, from 0 on, makes this output of, or the output itself. `opset` is that of
/// the model. Losses that make shares of scores themselves take these; a LogSoftmax is left, as its own is no other.
Value* before_softmax(Value* output, int64_t axis, int64_t opset);

/// The scores that a Sigmoid makes this output of, or the output itself.
Value* before_sigmoid(Value* output);

}  // namespace mlopt::train
