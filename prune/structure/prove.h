#pragma once
#include <cstdint>

#include "core/data/dataset.h"
#include "core/exec/runner.h"
#include "core/ir/model.h"
#include "core/tensor/compare.h"
#include "prune/prune.h"

namespace mlopt::prune {

/// How far the pruned model is from the masked one, on two samples of the data or, where there are none, on generated
/// inputs within their legal ranges whose free dimensions have distinct sizes: the worst output. Throws Error when
/// either cannot be run.
Difference pruned_from_masked(const Model& masked, const Model& pruned, const Runner& runner, const Dataset* data,
                              uint64_t seed);

/// Throws Error{kInternal} unless that difference is what another order of sums makes of the numbers, Error{kBadInput}
/// where the masked model gives no numbers.
void require_proof(const Difference& difference, const Model& model);

/// Both for result.model: keeps the proof there, or why there is none.
void prove(const Model& masked, const Model& source, uint64_t seed, const Means& means, Pruned& result);

}  // namespace mlopt::prune
