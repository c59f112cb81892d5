#pragma once
#include <cstdint>

#include "core/data/array_file.h"
#include "core/ir/model.h"

namespace mlopt::spiral {

constexpr int64_t kArms = 3;

/// Points of a spiral, whose class is the arm that they lie on: x float32 [count, 2], and label int64 [count] where
/// they are `labelled`.
NamedTensors points(int64_t count, uint64_t seed, bool labelled);

/// Linear layers "layer0", ... of `width` with Relu behind each, from points to scores of the arms; all weights are 0.
Model network(int64_t width, int64_t layers);

}  // namespace mlopt::spiral
