#pragma once
#include "backends/cpu/rows.h"

namespace mlopt::cpu {

/// A tensor seen around one axis (or several neighbouring ones): [outer, length, inner].
struct Middle {
  int64_t outer = 1, length = 1, inner = 1;
};

/// out[outer, inner] = the fold along the middle axis, on the threads of the plan.
void fold_middle(Fold op, const float* in, float* out, const Middle& middle);

}  // namespace mlopt::cpu
