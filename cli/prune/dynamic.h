#pragma once
#include "cli/prune/options.h"

namespace mlopt::cli {

/// Of --method: what is left out while the model runs, by what it is given.
inline constexpr const char* kDynamic = "dynamic";

/// Gives a classifier an exit behind a part of its layers, which is trained on --data, and by which samples leave that
/// it is sure of: as sure as --threshold says, or as is needed so that the score drops by no more than --max-drop.
void prune_at_run_time(const PruneOptions& options, Session& session);

/// What says how much is removed of a model, and from which layers, says nothing of what is left out while it runs:
/// throws Error{kUsage} where it is given. `what`: of the message, "an early exit".
void refuse_static_options(const PruneOptions& options, const std::string& what);

}  // namespace mlopt::cli
