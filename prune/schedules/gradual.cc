#include <algorithm>
#include <memory>

#include "prune/schedules/trained_masks.h"

namespace mlopt::prune {

ScheduleParts gradual(const ScheduleSetting& setting) {
  constexpr int64_t kRemovals = 32;
  const auto masks = std::make_shared<const TrainedMasks>(setting);
  const int64_t ramp = std::max<int64_t>(1, setting.steps / 2);
  const int64_t every = setting.spec.every ? setting.spec.every : std::max<int64_t>(1, ramp / kRemovals);
  ScheduleParts parts;
  parts.constrain = [masks](train::Constraint& at) { masks->constrain(at); };
  parts.hooks.before = [=](int64_t done, const train::TrainingGraphs& graphs) {
    if (done == ramp || (done > 0 && done < ramp && done % every == 0))
      masks->remove(cubic_share(static_cast<double>(done) / static_cast<double>(ramp)), graphs);
  };
  if (setting.steps <= ramp)  // a single update
    parts.hooks.after = [masks](const train::TrainingGraphs& graphs) {
      masks->remove(1, graphs);
      return std::nullopt;
    };
  return parts;
}

}  // namespace mlopt::prune
