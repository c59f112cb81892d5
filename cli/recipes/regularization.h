#pragma once
#include <functional>

#include "cli/distill/steps.h"
#include "cli/verb/verb.h"
#include "prune/spec.h"

namespace mlopt::cli {

/// Trains MODEL, by labels or with `distill` by what it gives itself, under a penalty that pulls to zero what `spec`
/// removes; `prune` then removes it from what was learned.
void run_regularization(const DistillOptions& options, bool distill, const prune::Spec& spec,
                        const std::function<VerbResult(const Model& trained)>& prune, Session& session);

}  // namespace mlopt::cli
