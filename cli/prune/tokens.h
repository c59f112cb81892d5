#pragma once
#include "cli/prune/options.h"

namespace mlopt::cli {

/// Of --granularity, with --method dynamic.
inline constexpr const char* kToken = "token";

/// Lets an encoder go on with the tokens that attention looks at the most, at the places of --tokens-at: as many as
/// --sparsity or --flops says, or as --max-drop allows.
void prune_tokens_at_run_time(const PruneOptions& options, Session& session);

}  // namespace mlopt::cli
