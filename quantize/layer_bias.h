#pragma once
#include <vector>

#include "core/ir/graph.h"

namespace mlopt::quantize {

/// The input that holds the bias of a layer, or of what it has become; -1: the node is none.
int bias_index(const Node& node);

/// Adds to the bias in float32 of such a layer, or to its int32 codes behind a DequantizeLinear. Gives what was added,
/// which steps may make another number; nothing where it is neither.
std::vector<double> add_to_bias(Graph& graph, Node* node, const std::vector<double>& change);

}  // namespace mlopt::quantize
