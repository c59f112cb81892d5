#pragma once
#include "graphopt/passes/lanes.h"

namespace mlopt::graphopt {

/// Is it faster to compute all lanes at once? It saves operators, and weights are read once that meet few rows; it
/// costs where the steps' values would stay in the cache lane by lane and do not all together. A batch that is not
/// known is taken as 8.
bool pays_at_once(const Lanes& lanes);

}  // namespace mlopt::graphopt
