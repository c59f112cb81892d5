#pragma once
#include "core/exec/kernel.h"

namespace mlopt {

/// What `plan` makes of the site, where the first input is there, as every plan takes for granted. What it has packed
/// is let go of as it lies in a file (Tensor::release_pages()).
Expected<PlannedStep> plan_step(Expected<PlannedStep> (*plan)(const Site&), const Site& site);

}  // namespace mlopt
