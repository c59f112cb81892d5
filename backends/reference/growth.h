#pragma once
#include <cstdint>
#include <span>

#include "core/exec/kernel.h"
#include "core/tensor/datum.h"

namespace mlopt::reference {

/// Watches what a loop carries from one iteration to the next. Values that are joined with themselves each time would
/// fill the memory of any machine within some thirty iterations, long after they could be of use.
class Growth {
 public:
  /// Throws Error{kUnsupported} when the values, large already, have grown by more than half once too often: one part
  /// more in each iteration does so twice at most.
  void check(const Call& call, std::span<const Datum> carried);

 private:
  int64_t bytes_ = 0;  ///< after the iteration before
  int leaps_ = 0;
};

}  // namespace mlopt::reference
