#pragma once
#include "core/rewrite/pass.h"

namespace mlopt {

/// Counters that a Loop carries, as the number of the iteration that its body is given anyway; and conditions that end
/// it with its trip count, as true: how TensorFlow's layers walk along a sequence.
extern const Pass loop_counters;

}  // namespace mlopt
