#pragma once
#include <vector>

#include "core/ir/view.h"

namespace mlopt::lower {

/// Operators of one input that fused operators name as their activation, for a Pattern.
inline constexpr std::string_view kJoiningActivations =
    "Relu|LeakyRelu|Clip|Sigmoid|Tanh|HardSigmoid|HardSwish|Swish|Elu|Gelu";

/// Adds `activation` and `activation_params` that say what the node computes; false where its parameters are not
/// constant.
bool add_activation(const NodeView& view, std::vector<Attr>& attrs);

}  // namespace mlopt::lower
