#include <cmath>

#include "prune/penalties.h"

namespace mlopt::prune {
namespace {

/// The root mean square of each element's row, in the shape of the tensor.
Tensor row_scales(const Weight& weight) {
  const Matrix numbers = load(weight);
  Tensor scales(DType::kF32, weight.value->constant->dims());
  auto* to = scales.mutable_data<float>();
  for (int64_t r = 0; r < numbers.rows; ++r) {
    double squares = 0;
    for (const float x : numbers.row(r)) squares += static_cast<double>(x) * x;
    const auto scale = static_cast<float>(std::sqrt(squares / static_cast<double>(numbers.columns)));
    for (int64_t c = 0; c < numbers.columns; ++c)
      to[weight.row_at[static_cast<size_t>(r)] + weight.column_at[static_cast<size_t>(c)]] = scale;
  }
  return scales;
}

/// sign(w) max(|w| - threshold, 0).
Value* shrunk(train::Builder& b, Value* w, Value* threshold) {
  Value* size = b.op("Relu", {b.op("Sub", {b.op("Abs", {w}), threshold})});
  return b.op("Mul", {b.op("Sign", {w}), size});
}

/// float32 scalar.
Value* zeros_in(train::Builder& b, Value* w) {
  Value* zero = b.op("Cast", {b.op("Equal", {w, b.number(0)})}, {{"to", int64_t{1}, {}}});
  return b.op("ReduceSum", {zero}, {{"keepdims", int64_t{0}, {}}});
}

/// The parameters that compete for what is removed, and the strength that they share.
void add_pool(train::Constraint& at, const std::string& name, std::span<const Weight> weights,
              const PenaltyPlan& plan) {
  train::Builder& b = at.build;
  int64_t total = 0;
  for (const Weight& weight : weights) total += weight.size();
  Strength strength(at, name, total, plan);
  std::vector<Value*> zeros;
  for (const Weight& weight : weights) {
    Value *before = at.before(weight.name()), *next = at.next(weight.name());
    Value* threshold = b.op("Mul", {b.graph().add_constant("prune/scale", row_scales(weight)), strength.now()});
    Value* alive = b.op("Cast", {b.op("Not", {b.op("Equal", {before, b.number(0)})})}, {{"to", int64_t{1}, {}}});
    Value* kept = b.op("Where", {strength.frozen(), b.op("Mul", {next, alive}), shrunk(b, next, threshold)});
    at.replace(weight.name(), kept);
    zeros.push_back(zeros_in(b, kept));
  }
  strength.adapt(b.op("Sum", zeros));
}

}  // namespace

void add_l1(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  Found found = find_weights(model, spec);
  std::erase_if(found.weights,
                [&](const Weight& w) { return !at.trains(w.name()) || w.value->constant->dtype() != DType::kF32; });
  if (spec.allocation == "global") return add_pool(at, "prune/strength", found.weights, plan);
  for (const Weight& weight : found.weights) add_pool(at, "prune/strength/" + weight.name(), {&weight, 1}, plan);
}

}  // namespace mlopt::prune
