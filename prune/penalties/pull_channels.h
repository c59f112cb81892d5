#pragma once
#include <span>

#include "core/train/constraint.h"
#include "prune/penalties/channels.h"
#include "prune/penalties/ramp.h"

namespace mlopt::prune {

/// What of a group a penalty pulls, and how large a channel is by it; and all that goes with a channel.
struct PulledGroup {
  TrainedGroup by, whole;
};

/// Group soft thresholding (Yuan and Lin 2006) of the channels that are the least at the time, as many as should be
/// gone: what is pulled of them shrinks together, by the more the fewer are zero. In the last quarter nothing is
/// pulled, all that belongs to channels that are zero is zero and stays so. `together`: channels of all groups compete.
void pull_channels(train::Constraint& at, const std::vector<PulledGroup>& groups, bool together,
                   const PenaltyPlan& plan);

}  // namespace mlopt::prune
