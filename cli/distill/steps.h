#pragma once
#include <memory>

#include "cli/distill/options.h"
#include "cli/train/run.h"

namespace mlopt::cli {

/// What makes a training follow teachers, as `distill` does. The session outlives the steps.
TrainingSteps distill_steps(std::shared_ptr<const DistillOptions> options, Session& session);

}  // namespace mlopt::cli
