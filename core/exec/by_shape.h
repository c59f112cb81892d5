#pragma once
#include "core/exec/kernel.h"

namespace mlopt {

/// A step for a node whose shapes are not known before it runs: plans once for each signature of its inputs (types,
/// shapes, threads) and remembers the last ones. What the plan declines, and every call with an empty tensor, is run by
/// CompileContext::next. Tensors that the plan wants in another layout are copied by `reorder`; where it is null, such
/// plans decline. Several threads may run it at once. `at_once`: what the graph says of the shapes is planned
/// now, and declined where the plan declines it.
Expected<Step> by_shape(const NodeView& view, const CompileContext& context, Expected<PlannedStep> (*plan)(const Site&),
                        PlanReorder reorder, bool at_once = true);

}  // namespace mlopt
