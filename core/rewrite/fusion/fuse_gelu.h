#pragma once
#include "core/ir/graph.h"

namespace mlopt::fusion {

/// Does the product end GELU as exporters spell it out?
bool is_gelu(const Node& mul);

}  // namespace mlopt::fusion
