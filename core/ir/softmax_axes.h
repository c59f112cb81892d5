#pragma once
#include "core/ir/middle.h"
#include "core/ir/view.h"

namespace mlopt {

/// What Softmax, LogSoftmax and Hardmax take together, in the middle. Throws Error{kBadInput} for an axis that x has
/// not.
Middle softmax_axes(const NodeView& node, const Dims& x);

}  // namespace mlopt
