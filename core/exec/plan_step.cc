#include "core/exec/plan_step.h"

namespace mlopt {

Expected<PlannedStep> plan_step(Expected<PlannedStep> (*plan)(const Site&), const Site& site) {
  if (!site.has(0)) return Decline{"the first input is missing"};
  Expected<PlannedStep> step = plan(site);
  if (!step) return step;
  for (const int i : step->packed)
    if (const Tensor* weights = site.constant(i)) weights->release_pages();
  return step;
}

}  // namespace mlopt
