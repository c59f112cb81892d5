#include <cmath>

#include "prune/penalties.h"

namespace mlopt::prune {
namespace {

/// The norm of each element's row, in the shape of the tensor; 1 for rows of zeros.
Tensor row_scales(const Weight& weight) {
  const Matrix numbers = load(weight);
  Tensor scales(DType::kF32, weight.value->constant->dims());
  auto* to = scales.mutable_data<float>();
  for (int64_t r = 0; r < numbers.rows; ++r) {
    double squares = 0;
    for (const float x : numbers.row(r)) squares += static_cast<double>(x) * x;
    const auto scale = squares == 0 ? 1.0F : static_cast<float>(std::sqrt(squares));
    for (int64_t c = 0; c < numbers.columns; ++c)
      to[weight.row_at[static_cast<size_t>(r)] + weight.column_at[static_cast<size_t>(c)]] = scale;
  }
  return scales;
}

/// float32 scalar.
Value* zeros_in(train::Builder& b, Value* w) {
  Value* zero = b.op("Cast", {b.op("Equal", {w, b.number(0)})}, {{"to", int64_t{1}, {}}});
  return b.op("ReduceSum", {zero}, {{"keepdims", int64_t{0}, {}}});
}

/// Every so many of the numbers of a tensor.
Value* sampled(train::Builder& b, Value* x, int64_t step) {
  const int64_t size = element_count(train::Builder::dims(x));
  Value* list = b.op("Reshape", {x, b.indices({size})});
  return b.op("Slice", {list, b.indices({0}), b.indices({size}), b.indices({0}), b.indices({step})});
}

/// Samples of all sizes, in one list.
Value* sampled(train::Builder& b, const std::vector<Value*>& sizes, int64_t total) {
  constexpr int64_t kSamples = 1 << 16;
  std::vector<Value*> some;
  for (Value* size : sizes) some.push_back(sampled(b, size, 1 + total / kSamples));
  return b.op("Concat", some, {{"axis", int64_t{0}, {}}});
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
  Value* cut = strength.first_to_stay(sampled(b, sizes, total));
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
  Found found = find_weights(model, {spec.only, spec.skip});
  std::erase_if(found.weights,
                [&](const Weight& w) { return !at.trains(w.name()) || w.value->constant->dtype() != DType::kF32; });
  if (spec.allocation.empty() || spec.allocation == "global")
    return add_pool(at, "prune/strength", found.weights, plan);
  for (const Weight& weight : found.weights) add_pool(at, "prune/strength/" + weight.name(), {&weight, 1}, plan);
}

}  // namespace mlopt::prune
