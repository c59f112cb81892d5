#pragma once
#include "core/calib/matrix.h"
#include "core/calib/observe.h"
#include "core/calib/weights.h"

namespace mlopt::prune {

/// `pruned` with what is not 0 changed so that the layer's outputs come as near as they can, over what was observed, to
/// those of `wanted`, on what the original is given where that was observed too, so that it makes up for what the
/// layers before have lost (least squares of each output, damped as damped_hessian() towards `wanted`). Zeros stay.
Matrix fitted(const Weight& weight, const Observed& observed, const Matrix& wanted, const Matrix& pruned);

}  // namespace mlopt::prune
