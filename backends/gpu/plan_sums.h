#pragma once
#include <memory>
#include <vector>

#include "backends/gpu/ranks.h"
#include "core/exec/plan.h"

namespace mlopt::gpu {

/// The values of the state that a plan's runs add up over the ranks: some at once, as soon as no step that is left
/// touches them, in the order in which that comes to pass, which is that of all ranks.
class PlannedSums {
 public:
  /// `where`: the memory of each slot. Throws Error{kInternal} where the plan does not make all of the values.
  PlannedSums(const Plan::Parts& parts, const std::vector<std::byte*>& where, std::shared_ptr<StateSums> sums);

  bool are(const StateSums& sums) const { return sums_.get() == &sums; }
  /// Begins what is complete when so many steps are put in the queue.
  void begin(size_t done, WorkQueue& queue);
  /// Begins the rest; what is put in the queue from now on sees all sums.
  void end(WorkQueue& queue);
  /// A run with these sums was waited for.
  void note() { sums_->note(bytes_); }

 private:
  struct Bucket {
    size_t after;  ///< steps; those behind them do not touch the parts
    std::vector<RingPart> parts;
  };

  std::shared_ptr<RankSums> sums_;
  std::vector<Bucket> buckets_;
  size_t begun_ = 0;  ///< in this run
  int64_t bytes_ = 0;
};

}  // namespace mlopt::gpu
