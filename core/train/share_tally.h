#pragma once
#include "core/data/metrics.h"
#include "core/train/communicator.h"

namespace mlopt::train {

/// What all ranks have counted together, in the order of the ranks; all call it.
Tally share_tally(Communicator& ranks, const Tally& mine);

}  // namespace mlopt::train
