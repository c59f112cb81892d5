#pragma once
#include "prune/prune.h"

namespace mlopt::prune {

/// The source with zeros in place of the weights that `spec` removes: shapes stay. Throws as prune() does.
Pruned mask_model(const Model& source, const Spec& spec, const Means& means);

}  // namespace mlopt::prune
