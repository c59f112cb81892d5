#pragma once
#include "core/ir/model.h"

namespace mlopt::train {

/// The node gives way to an initializer of the name of its only output.
void replace_by_initializer(Graph& graph, Node* node, const Tensor& value);

/// Where a model keeps its weights in Constant nodes (no initializer is a matrix or more), these become initializers.
void constants_to_initializers(Model& model);

}  // namespace mlopt::train
