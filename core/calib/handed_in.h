#pragma once
#include "core/ir/graph.h"

namespace mlopt {

/// The Loop or Scan that hands its body this value, which is a constant of the graphs around it that stays the same in
/// all trips, or slices of one; null: the value is something else.
const Node* handed_in(const Value& value);

}  // namespace mlopt
