#pragma once
#include "core/ir/graph.h"

namespace mlopt::fusion {

/// Are both the same numbers: one value, equal small constants, or what equal operators make of the same?
bool are_twins(const Value* a, const Value* b);
/// Have they the same attributes, spelt in the same way? Only numbers, strings and lists of these are compared.
bool have_equal_attributes(const Node& a, const Node& b);

}  // namespace mlopt::fusion
