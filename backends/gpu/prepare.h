#pragma once
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::gpu {

/// Rewrites a model into what the kernels here run at once. The result computes the same, up to rounding. `float8`: the
/// device multiplies floats of 8 bits.
void prepare(Model& model, bool float8 = false);

/// The same for what shapes decide, in a graph in which they are known; `types` as for infer().
void specialize(Model& model, TypeRule types);

}  // namespace mlopt::gpu
