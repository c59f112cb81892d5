#pragma once
#include <vector>

#include "core/ir/model.h"

namespace mlopt::prune {

/// Puts simple operators in the place of a LayerNormalization, an RMSNormalization or one of com.microsoft's Skip...s
/// (node of a copy that is ours), whose statistics count only the elements of its last axis where the mask is 1.
void mask_normalization(Model& model, Node& node, const std::vector<float>& mask);

}  // namespace mlopt::prune
