#pragma once
#include "cli/command.h"
#include "core/calib/score.h"
#include "core/train/communicator.h"

namespace mlopt::cli {

/// The ranks share the samples, and all have the score of all of them.
void share_scoring(train::Communicator& ranks, ScoreOptions& options);

/// `.ranks` and `.communication` of a training's report: what rank 0 has moved in `steps` updates, and the share of
/// `seconds` in which it waited for others with nothing to compute, `waiting`.
void report_ranks(const train::Communicator& ranks, int64_t steps, double seconds, double waiting, Report& report);

}  // namespace mlopt::cli
