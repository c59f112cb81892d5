#include "prune/penalties/ramp.h"

#include <algorithm>

namespace mlopt::prune {

Ramp::Ramp(train::Constraint& at, int64_t total, const PenaltyPlan& plan)
    : build_(at.build), total_(static_cast<double>(total)) {
  train::Builder& b = build_;
  Value* progress = b.op("Min", {b.op("Div", {at.step, b.number(std::max(1.0, plan.ramp()))}), b.number(1)});
  Value* left = b.op("Pow", {b.op("Sub", {b.number(1), progress}), b.number(3)});
  wanted_ = b.op("Mul", {b.op("Sub", {b.number(1), left}), b.number(plan.sparsity * total_)});
}

Value* Ramp::first_to_stay(Value* sizes) const {
  train::Builder& b = build_;
  const int64_t count = train::Builder::dims(sizes)[0];
  Value* sorted = b.ops("TopK", {sizes, b.indices({count})}, 2, {{"largest", int64_t{0}, {}}})[0];
  Value* share = b.op("Mul", {wanted_, b.number(static_cast<double>(count) / total_)});
  Value* place = b.op("Min", {share, b.number(static_cast<double>(count - 1))});
  return b.op("Gather", {sorted, b.op("Cast", {place}, {{"to", int64_t{7}, {}}})});
}

}  // namespace mlopt::prune
