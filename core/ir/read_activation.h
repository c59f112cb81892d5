#pragma once
#include <string>
#include <vector>

#include "core/base/activation.h"
#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

/// The function of an operator, `params` in the order of com.microsoft.FusedConv's activation_params (missing ones have
/// the operator's defaults).
Expected<Activation> activation_of(const std::string& op, const std::vector<float>& params = {});

/// What an operator of one input computes, its parameters read from its attributes and constant inputs.
Expected<Activation> activation_of(const NodeView& view);

/// The activation that a fused operator names in its attributes `activation` and `activation_params` (or
/// `activation_alpha` and `activation_beta`); kNone when it has none.
Expected<Activation> fused_activation(const NodeView& view);

}  // namespace mlopt
