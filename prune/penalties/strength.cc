#include "prune/penalties/strength.h"

#include <algorithm>

namespace mlopt::prune {

Strength::Strength(train::Constraint& at, const std::string& name, int64_t total, const PenaltyPlan& plan)
    : at_(at), ramp_(at, total, plan) {
  train::Builder& b = at.build;
  // Without any pull of the loss, what has a norm of 1 would be zero after four times the updates.
  const double start = 0.25 / static_cast<double>(std::max<int64_t>(1, plan.steps));
  kept_ = at.keep(name, Tensor::scalar(static_cast<float>(start)));
  frozen_ = b.op("Greater", {at.step, b.number(plan.end())});
  now_ = b.op("Where", {frozen_, b.number(0), kept_});
}

void Strength::adapt(Value* zeros) {
  constexpr double kFaster = 1.1;
  train::Builder& b = at_.build;
  Value* factor = b.op("Where", {b.op("Less", {zeros, ramp_.wanted()}), b.number(kFaster), b.number(1 / kFaster)});
  at_.keep_next(kept_, b.op("Mul", {kept_, factor}));
}

}  // namespace mlopt::prune
