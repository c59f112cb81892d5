#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/constraint.h"

namespace mlopt::prune {

/// When a training removes what: its share grows to `sparsity` along a cubic (Zhu and Gupta 2017) over the first half
/// of the updates, is held there for a quarter, and in the last quarter stays removed while the rest recovers.
struct PenaltyPlan {
  double sparsity = 0.5;
  int64_t steps = 0;

  double ramp() const { return 0.5 * static_cast<double>(steps); }
  double end() const { return 0.75 * static_cast<double>(steps); }
};

/// How much should be removed by now, in the graph of updates.
class Ramp {
 public:
  /// The plan's share is one of `total`.
  Ramp(train::Constraint& at, int64_t total, const PenaltyPlan& plan);

  /// How many of `total`: float32 scalar.
  Value* wanted() const { return wanted_; }
  /// The size below which lie as many of a list, [N], as its part of `total` should be removed: float32 scalar.
  Value* first_to_stay(Value* sizes) const;

 private:
  train::Builder& build_;
  double total_;
  Value* wanted_;
};

/// What competes for what is removed: all together, or each for itself.
template <class T>
std::vector<std::span<const T>> pools_of(const std::vector<T>& all, bool together) {
  if (together && !all.empty()) return {all};
  std::vector<std::span<const T>> pools;
  for (const T& one : all) pools.emplace_back(&one, 1);
  return pools;
}

}  // namespace mlopt::prune
