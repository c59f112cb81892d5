#pragma once
#include <functional>

#include "cli/distill/steps.h"
#include "cli/verb/verb.h"
#include "prune/spec.h"

namespace mlopt::cli {

/// Trains MODEL, by labels or with `distill` by what it gives itself, so that it can do without what `spec` removes:
/// under a penalty that pulls it to zero, or with a dropout of it. `prune` then removes it from what was learned.
void run_sparse_training(const DistillOptions& options, bool distill, const prune::Spec& spec,
                         const std::function<VerbResult(const Model& trained)>& prune, Session& session);

}  // namespace mlopt::cli
