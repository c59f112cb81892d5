#pragma once
#include "cli/prune/sensitivity.h"

namespace mlopt::cli {

/// Prunes each layer, or each group of coupled channels, alone, by shares that grow, and reports what is left of the
/// quality and, where shapes become smaller, what it saves; writes no model. `prune` gives the source pruned by a spec.
void analyse_pruning(const VerbOptions& verb, const prune::Spec& spec, const Model& source, const TryPruning& prune,
                     Session& session);

}  // namespace mlopt::cli
