#pragma once
#include "backends/cpu/middle.h"
#include "backends/cpu/rows.h"

namespace mlopt::cpu {

/// out[outer, inner] = the fold along the middle axis, on the threads of the plan.
void fold_middle(Fold op, const float* in, float* out, const Middle& middle);

}  // namespace mlopt::cpu
