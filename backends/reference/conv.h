#pragma once
#include "core/exec/kernel.h"

namespace mlopt::reference {

/// The convolution described by the call's node of x [N, C, spatial...] with w [M, C / group, kernel...] and `bias` [M]
/// (or null), all of one type, float32 or float64; throws Error{kBadInput} naming the node when shapes disagree.
Tensor convolution(const Call& call, const Tensor& x, const Tensor& w, const Tensor* bias);

}  // namespace mlopt::reference
