#pragma once
#include <mutex>
#include <vector>

#include "backends/cpu/dnn.h"

namespace mlopt::cpu {

/// A constant tensor in the layouts that primitives asked for: each packed once and kept. Threads may ask at the same
/// time.
class Packed {
 public:
  /// Views `constant`, whose bytes lie as `given`; a copy is made only where they are not aligned.
  Packed(const Tensor& constant, Desc given) : tensor_(constant.aligned()), given_(std::move(given)) {}
  Memory as(const Desc& wanted);

 private:
  Tensor tensor_;
  Desc given_;
  std::mutex mutex_;
  std::vector<Memory> made_;
};

}  // namespace mlopt::cpu
