#pragma once
#include <string>

#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "prune/structure/choose.h"

namespace mlopt::prune {

/// A copy of the model without these channels: constants are cut, attributes and shapes rewritten, types inferred anew.
/// Inputs and outputs are as they were. What is cut waits in files in the folder `spill` (empty: in memory). Throws
/// Error{kInternal} when the types do not come out as planned.
Model remove_channels(const Model& model, const Relations& all, const std::vector<Group>& groups,
                      const Removed& removed, TypeRule standard, const std::string& spill = {});

/// The same but for the numbers of the constants, which are any: quick, for figures that follow from shapes.
Model shapes_without_channels(const Model& model, const Relations& all, const std::vector<Group>& groups,
                              const Removed& removed, TypeRule standard);

/// A copy of the model in which these channels are there and add nothing: zero wherever something sums over them.
Model mask_channels(const Model& model, const Relations& all, const std::vector<Group>& groups, const Removed& removed);

}  // namespace mlopt::prune
