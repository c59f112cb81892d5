#pragma once
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt {

/// Operators of one input that fused operators name as their activation, for a Pattern.
inline constexpr std::string_view kJoiningActivations =
    "Relu|LeakyRelu|Clip|Sigmoid|Tanh|HardSigmoid|HardSwish|Swish|Elu|Gelu";

/// Adds `activation` and `activation_params` that say what the node computes. Declines parameters that are not
/// constant, and for ONNX Runtime what its FusedConv does not take.
Expected<std::vector<Attr>> with_activation(std::vector<Attr> attrs, const Node& activation, const Builder& builder);

}  // namespace mlopt
