#include "core/exec/plan_step.h"

#include <fmt/core.h>

#include "core/exec/node_step.h"

namespace mlopt {

Expected<PlannedStep> plan_step(Expected<PlannedStep> (*plan)(const Site&), const Site& site) {
  try {
    Expected<PlannedStep> step = plan(site);
    if (!step) return step;
    for (const int i : step->packed)
      if (const Tensor* weights = site.constant(i)) weights->release_pages();
    return step;
  } catch (const MissingInput& missing) {
    return Decline{fmt::format("input {} is missing", missing.index)};
  } catch (...) {
    rethrow_with_node(site.view.node());
  }
}

}  // namespace mlopt
