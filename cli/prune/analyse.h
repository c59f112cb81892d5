#pragma once
#include <functional>
#include <string>

#include "cli/verb/verb.h"
#include "prune/prune.h"

namespace mlopt::cli {

/// Prunes each layer, or each group of coupled channels, alone, by shares that grow, and reports what is left of the
/// quality and, where shapes become smaller, what it saves; writes no model. `prune` gives the source pruned by a spec.
void analyse_pruning(const VerbOptions& verb, const prune::Spec& spec, const Model& source,
                     const std::function<prune::Pruned(const prune::Spec&)>& prune, Session& session);

}  // namespace mlopt::cli
