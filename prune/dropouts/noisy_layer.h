#pragma once
#include "prune/dropouts/noise.h"

namespace mlopt::prune {

/// Adds the noise of a weight of this variance, of its shape, times `loud` (a scalar) to what `reader` gives. Where
/// that is a sum of products, the noise is that of the sum, another for each of its numbers (Kingma et al. 2015, "local
/// reparameterization"); elsewhere the weight has the same noise for all samples.
void add_noise_of(train::Builder& b, const Use& reader, Value* variance, Value* loud, Chance& chance);

}  // namespace mlopt::prune
