#pragma once
#include "prune/schedules.h"

namespace mlopt::prune {

/// Rounds of a training: behind each but the last a share of what is left goes, and the training goes back to the
/// spec's update; `weights` do too, or else what the optimizer keeps beside them alone.
ScheduleParts rewinding(const ScheduleSetting& setting, bool weights);

}  // namespace mlopt::prune
