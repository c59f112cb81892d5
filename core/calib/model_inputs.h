#pragma once
#include <vector>

#include "core/data/input_spec.h"
#include "core/ir/model.h"

namespace mlopt {

/// What data must provide for the model: its graph inputs that have no default, in order, with the values they may
/// take.
std::vector<InputSpec> model_inputs(const Model& model);

}  // namespace mlopt
