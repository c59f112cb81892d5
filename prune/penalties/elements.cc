#include "prune/penalties/elements.h"

#include <cmath>

#include "core/base/error.h"

namespace mlopt::prune {
namespace {

/// Every so many of the numbers of a tensor.
Value* every(train::Builder& b, Value* x, int64_t step) {
  const int64_t size = element_count(train::Builder::dims(x));
  Value* list = b.op("Reshape", {x, b.indices({size})});
  return b.op("Slice", {list, b.indices({0}), b.indices({size}), b.indices({0}), b.indices({step})});
}

}  // namespace

std::vector<Weight> trained_weights(const Model& model, const Spec& spec,
                                    const std::function<bool(const std::string&)>& trains) {
  std::vector<Weight> weights = find_weights(model, {spec.only, spec.skip}).weights;
  std::erase_if(weights,
                [&](const Weight& w) { return !trains(w.name()) || w.value->constant->dtype() != DType::kF32; });
  if (weights.empty())
    input_error("no weight that is trained can be removed", model.path,
                "--skip and --freeze may leave it out; weights have to be float32");
  return weights;
}

bool compete(const Spec& spec) { return spec.allocation.empty() || spec.allocation == "global"; }

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

Value* sampled(train::Builder& b, const std::vector<Value*>& tensors, int64_t total) {
  constexpr int64_t kSamples = 1 << 16;
  std::vector<Value*> some;
  for (Value* x : tensors) some.push_back(every(b, x, 1 + total / kSamples));
  return b.op("Concat", some, {{"axis", int64_t{0}, {}}});
}

}  // namespace mlopt::prune
