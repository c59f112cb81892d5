#pragma once
#include <vector>

#include "core/base/expected.h"
#include "core/ir/middle.h"
#include "core/ir/view.h"

namespace mlopt {

/// By axis, whether the Reduce... operator folds it. Declines axes that are not constant. Throws Error{kBadInput} for
/// an axis that the input lacks.
Expected<std::vector<bool>> reduced_axes(const NodeView& view, size_t rank);

/// Neighbouring reduced axes as one, the last first: each group in what those before it leave.
std::vector<Middle> reduction_groups(Dims dims, const std::vector<bool>& reduced);

}  // namespace mlopt
