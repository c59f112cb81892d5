#pragma once
#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "core/rewrite/pass.h"

namespace mlopt::gpu {

/// Operators that no kernel here runs, or none as they are -> the bodies that the standard gives for them, where it
/// does; known branches and loops of known length -> their bodies. Types and shapes of the model are known.
void expand_functions(Model& model, TypeRule types);

/// AffineGrid of a known size -> MatMul.
extern const Pass affine_grid;

}  // namespace mlopt::gpu
