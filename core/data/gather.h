#pragma once
#include <span>

#include "core/data/dataset.h"

namespace mlopt {

/// The samples of these indices, stacked in this order. Throws as Dataset::batch().
Batch gather(const Dataset& data, std::span<const int64_t> which);

}  // namespace mlopt
