#pragma once
#include "core/ir/infer.h"

namespace mlopt {

/// One node's output types by the linked standard's own inference functions; for infer().
std::vector<Type> standard_types(const NodeView& view);

}  // namespace mlopt
