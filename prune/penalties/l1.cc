#include <fmt/core.h>

#include "prune/penalties.h"
#include "prune/penalties/elements.h"

namespace mlopt::prune {
namespace {

/// float32 scalar.
Value* zeros_in(train::Builder& b, Value* w) {
  Value* zero = b.op("Cast", {b.op("Equal", {w, b.number(0)})}, {{"to", int64_t{1}, {}}});
  return b.op("ReduceSum", {zero}, {{"keepdims", int64_t{0}, {}}});
}

/// The parameters that compete for what is removed, and the strength that they share.
void add_pool(train::Constraint& at, const std::string& name, std::span<const Weight> weights,
              const PenaltyPlan& plan) {
  train::Builder& b = at.build;
  std::vector<Value*> scales, sizes, zeros;
  int64_t total = 0;
  for (const Weight& weight : weights) {
    scales.push_back(b.graph().add_constant("prune/scale", row_scales(weight)));
    sizes.push_back(b.op("Div", {b.op("Abs", {at.next(weight.name())}), scales.back()}));
    total += weight.size();
  }
  Strength strength(at, name, total, plan);
  Value* cut = strength.ramp().first_to_stay(sampled(b, sizes, total));
  for (size_t i = 0; i < weights.size(); ++i) {
    Value *before = at.before(weights[i].name()), *next = at.next(weights[i].name());
    Value* left = b.op("Mul", {b.op("Relu", {b.op("Sub", {sizes[i], strength.now()})}), scales[i]});
    Value* pulled = b.op("Where", {b.op("Less", {sizes[i], cut}), b.op("Mul", {b.op("Sign", {next}), left}), next});
    Value* alive = b.op("Cast", {b.op("Not", {b.op("Equal", {before, b.number(0)})})}, {{"to", int64_t{1}, {}}});
    at.replace(weights[i].name(), b.op("Where", {strength.frozen(), b.op("Mul", {next, alive}), pulled}));
    zeros.push_back(zeros_in(b, at.next(weights[i].name())));
  }
  strength.adapt(b.op("Sum", zeros));
}

}  // namespace

void add_l1(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  const std::vector<Weight> weights =
      trained_weights(model, spec, [&](const std::string& name) { return at.trains(name); });
  int64_t number = 0;
  for (const auto pool : pools_of(weights, compete(spec)))
    add_pool(at, fmt::format("prune/strength/{}", number++), pool, plan);
}

}  // namespace mlopt::prune
