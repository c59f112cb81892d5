#pragma once
#include <functional>

#include "cli/verb/verb.h"

namespace mlopt::cli {

/// Throws Error{kUsage} where --sparsity auto has nothing to search by.
void check_search(const VerbOptions& verb, bool alone);

/// The largest sparsity, to a hundred and twenty-eighth, whose model still holds the gates on outputs and score, found
/// by halving. What was tried is in the report.
double search_sparsity(const VerbOptions& verb, const Model& source, Session& session,
                       const std::function<Model(double sparsity)>& prune);

}  // namespace mlopt::cli
