#pragma once
#include "core/ir/model.h"

namespace mlopt::train {

/// The node, of `graph` or of a branch in it, gives way to an initializer of `graph` of the name of its only output.
void replace_by_initializer(Graph& graph, Node* node, const Tensor& value);

/// Where a model keeps its weights in Constant nodes (no initializer is a matrix or more), these become initializers,
/// those of the branches of If too.
void constants_to_initializers(Model& model);

}  // namespace mlopt::train
