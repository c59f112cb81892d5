#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "core/exec/state.h"

namespace mlopt::train {

/// What a loss is multiplied by so that its gradients are not 0 in float16, which they are below 2^-24; a power of two,
/// so that dividing by it afterwards is exact. It grows while gradients are finite and falls when some are not, whose
/// update is left out (dynamic loss scaling; Micikevicius et al. 2018).
struct LossScale {
  double value = 65536;
  int64_t good = 0;     ///< updates since it changed
  int64_t skipped = 0;  ///< updates left out, in all
};

/// After an update: doubled after 2000 in a row.
void note_finite(LossScale& scale);
/// After gradients that are not finite: halved. False where it would fall below 1: it is not the scale then.
bool note_overflow(LossScale& scale);

/// Is every number of these values of the state finite? A device looks at those that it has, which stay there.
bool all_finite(const StateStore& state, std::span<const std::string> names);

}  // namespace mlopt::train
