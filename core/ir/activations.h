#pragma once
#include <cstdint>

#include "core/ir/graph.h"

namespace mlopt {

struct ActivationPeak {
  int64_t bytes = 0;           ///< most bytes of computed values and inputs that are alive at once
  int64_t unknown_values = 0;  ///< values left out because their shapes are not plain integers
};

/// Memory of values when every value is freed after its last use and nothing is computed in place: what the schedule
/// alone asks for, constants not counted. A body adds its own peak while its node runs.
ActivationPeak activation_peak(const Graph& graph);

}  // namespace mlopt
