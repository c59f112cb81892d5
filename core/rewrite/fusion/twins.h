#pragma once
#include "core/ir/graph.h"

namespace mlopt::fusion {

/// Are both the same numbers: one value, equal small constants, or what equal operators make of the same?
bool are_twins(const Value* a, const Value* b);

}  // namespace mlopt::fusion
