#include "prune/penalties/strength.h"

#include <algorithm>

namespace mlopt::prune {

Strength::Strength(train::Constraint& at, const std::string& name, int64_t total, const PenaltyPlan& plan)
    : at_(at), total_(static_cast<double>(total)) {
  train::Builder& b = at.build;
  // Without any pull of the loss, what has a norm of 1 would be zero after four times the updates.
  const double start = 0.25 / static_cast<double>(std::max<int64_t>(1, plan.steps));
  kept_ = at.keep(name, Tensor::scalar(static_cast<float>(start)));
  frozen_ = b.op("Greater", {at.step, b.number(plan.end())});
  now_ = b.op("Where", {frozen_, b.number(0), kept_});
  Value* progress = b.op("Min", {b.op("Div", {at.step, b.number(std::max(1.0, plan.ramp()))}), b.number(1)});
  Value* left = b.op("Pow", {b.op("Sub", {b.number(1), progress}), b.number(3)});
  wanted_ = b.op("Mul", {b.op("Sub", {b.number(1), left}), b.number(plan.sparsity * total_)});
}

Value* Strength::first_to_stay(Value* sizes) const {
  train::Builder& b = at_.build;
  const int64_t count = train::Builder::dims(sizes)[0];
  Value* sorted = b.ops("TopK", {sizes, b.indices({count})}, 2, {{"largest", int64_t{0}, {}}})[0];
  Value* share = b.op("Mul", {wanted_, b.number(static_cast<double>(count) / total_)});
  Value* place = b.op("Min", {share, b.number(static_cast<double>(count - 1))});
  return b.op("Gather", {sorted, b.op("Cast", {place}, {{"to", int64_t{7}, {}}})});
}

void Strength::adapt(Value* zeros) {
  constexpr double kFaster = 1.1;
  train::Builder& b = at_.build;
  Value* factor = b.op("Where", {b.op("Less", {zeros, wanted_}), b.number(kFaster), b.number(1 / kFaster)});
  at_.keep_next(kept_, b.op("Mul", {kept_, factor}));
}

}  // namespace mlopt::prune
