#pragma once
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt {

/// Gives the graph's inputs that are not initializers these concrete shapes, in order, forgets what was known of the
/// shapes that follow from them, and infers them anew. For estimates, never for a model that is written: the declared
/// symbols are lost.
void bind_input_shapes(Model& model, const std::vector<Dims>& shapes, TypeRule standard = nullptr);

}  // namespace mlopt
