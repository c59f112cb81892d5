#pragma once
#include <string>

#include "core/ir/model.h"

namespace mlopt {

/// One line for each node: "%y:float32[N,8] = Conv<pads=[1,1,1,1]>(%x, %w) 'stem/conv1'", bodies indented. Stable
/// between runs; for tests, --explain and messages.
std::string dump(const Graph& graph);

}  // namespace mlopt
