#pragma once
#include "core/exec/kernel.h"

namespace mlopt {

/// What `plan` makes of the site; a Decline where it needs an input that is missing. What it has packed is let go of as
/// it lies in a file (Tensor::release_pages()). Errors gain the node.
Expected<PlannedStep> plan_step(Expected<PlannedStep> (*plan)(const Site&), const Site& site);

}  // namespace mlopt
