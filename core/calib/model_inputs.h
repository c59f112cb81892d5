#pragma once
#include <vector>

#include "core/data/input_spec.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt {

/// What data must provide for the model: its graph inputs that have no default, in order, with the values they may
/// take.
std::vector<InputSpec> model_inputs(const Model& model);

/// A copy whose inputs are as small as they may be, one sample of each, and all shapes that follow; `standard` types
/// operators outside our own table. Throws Error as concrete_shapes() and bind_input_shapes().
Model with_smallest_inputs(const Model& model, TypeRule standard);

}  // namespace mlopt
