#include "prune/penalties.h"
#include "prune/penalties/pull_channels.h"

namespace mlopt::prune {

void add_group_lasso(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  std::vector<PulledGroup> groups;
  for (const TrainedGroup& group :
       trained_groups(model, spec, [&](const std::string& name) { return at.trains(name); }))
    groups.push_back({group, group});
  pull_channels(at, groups, spec.allocation == "global", plan);
}

}  // namespace mlopt::prune
