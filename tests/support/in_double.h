#pragma once
#include "core/ir/graph.h"

namespace mlopt::test {

/// All floats that are computed with become float64.
void to_double(Graph& graph);

}  // namespace mlopt::test
