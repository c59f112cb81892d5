#pragma once
#include "core/ir/model.h"

namespace mlopt::train {

/// Weights of layers, and a bias that is added to a product with a weight. What is added to the product of two
/// activations may be a mask, and what recurrent layers read beside weights and biases is where they begin.
bool is_of_layer(const Use& use);

/// The node, of `graph` or of a branch in it, gives way to an initializer of `graph` of the name of its only output.
void replace_by_initializer(Graph& graph, Node* node, const Tensor& value);

/// Weights and biases of layers, and statistics of normalizations, in Constant nodes become initializers, those of the
/// branches of If too; so does every other float where no initializer is a matrix or more. Beside such initializers,
/// other Constant nodes are settings of the model, as masks and the first states of recurrent layers are.
void constants_to_initializers(Model& model);

}  // namespace mlopt::train
