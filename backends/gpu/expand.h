#pragma once
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::gpu {

/// Operators that no kernel here runs -> the bodies that the standard gives for them, where it does and all of these
/// are straight lines of operators. Types and shapes of the model are known.
void expand_functions(Model& model, TypeRule types);

}  // namespace mlopt::gpu
