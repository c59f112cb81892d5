#pragma once
#include <hwy/targets.h>

#include <vector>

namespace mlopt::test {

/// The instruction sets that vector kernels are compiled for and this machine has.
std::vector<int64_t> targets();

/// Kernels of ours run on one instruction set for its lifetime.
class TargetScope {
 public:
  explicit TargetScope(int64_t target);
  ~TargetScope();
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
};

}  // namespace mlopt::test
