#pragma once
#include "core/rewrite/pass.h"

namespace mlopt {

/// Values that each iteration of a Loop or Scan only passes on, such as the weights of a cell that TensorFlow unrolls,
/// as values from outside: what is computed of constants among them is then a constant.
extern const Pass loop_invariants;

}  // namespace mlopt
