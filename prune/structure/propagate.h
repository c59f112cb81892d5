#pragma once
#include "core/ir/model.h"
#include "prune/structure/rule.h"

namespace mlopt::prune {

/// What the model's operators say of its axes. Inputs, outputs, and all that an operator outside the table touches stay
/// as they are. Types and shapes must have been inferred.
Relations relate_axes(const Model& model, SplitBy split, Statistics statistics = Statistics::kStay);

/// Ties the axes that the regroupings of `all` can be followed through and pins the rest of them.
void settle_regroupings(Relations& all, SplitBy split);

}  // namespace mlopt::prune
