#include <algorithm>

#include "core/base/error.h"
#include "prune/penalties.h"
#include "prune/penalties/pull_channels.h"

namespace mlopt::prune {

void add_slimming(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  std::vector<PulledGroup> groups;
  bool scales = false;
  for (const TrainedGroup& group :
       trained_groups(model, spec, [&](const std::string& name) { return at.trains(name); })) {
    TrainedGroup by = scales_of(group);
    scales = scales || !by.members.empty();
    groups.push_back({by.members.empty() ? group : std::move(by), group});
  }
  if (!scales)
    input_error("no channel that can go has a scale that is trained: a BatchNormalization may be folded", model.path,
                "--penalty group-lasso shrinks weights, or give the model before its normalizations are folded");
  pull_channels(at, groups, spec.allocation == "global", plan);
}

}  // namespace mlopt::prune
