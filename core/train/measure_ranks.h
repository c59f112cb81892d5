#pragma once
#include <vector>

#include "core/train/communicator.h"

namespace mlopt::train {

/// An all-reduce of so many bytes of float32 from each rank.
struct ReduceSpeed {
  int64_t bytes = 0;
  double seconds = 0;  ///< the median, of rank 0
  int rounds = 0;
  /// Bytes a second that leave a rank (the "bus bandwidth"), which compares with the network's; see cost_model.h.
  double sent_per_s = 0;
};

/// All ranks call it; takes a second or a few.
std::vector<ReduceSpeed> measure_all_reduce(Communicator& ranks);

}  // namespace mlopt::train
