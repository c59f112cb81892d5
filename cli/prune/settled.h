#pragma once
#include <optional>
#include <string>

#include "cli/train/options.h"
#include "prune/spec.h"

namespace mlopt::cli {

/// What the pruning that is `asked` for came to when its training began, kept beside the checkpoints: measured anew,
/// widths would not be the same. Nothing unless the training is resumed and something was measured. Throws
/// Error{kBadInput} where another was asked for then.
std::optional<prune::Spec> settled_before(const TrainOptions& options, const prune::Spec& asked);
/// Keeps it, where the training has checkpoints and something was measured.
void keep_settled(const TrainOptions& options, const prune::Spec& asked, const std::string& settled);

}  // namespace mlopt::cli
