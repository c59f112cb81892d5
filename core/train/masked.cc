#include "core/train/masked.h"

#include <algorithm>

#include "core/tensor/cast.h"

namespace mlopt::train {

Value* masked(Builder& build, Value* gradient, const Tensor& weights) {
  if (weights.rank() < 2) return gradient;
  std::vector<float> mask = to_floats(weights);
  const auto zeros = std::count(mask.begin(), mask.end(), 0.0F);
  if (zeros == 0 || zeros == static_cast<std::ptrdiff_t>(mask.size())) return gradient;
  for (float& x : mask) x = x == 0 ? 0.0F : 1.0F;
  const Tensor kept = cast(Tensor::of<float>(weights.dims(), mask), weights.dtype());
  return build.op("Mul", {gradient, build.graph().add_constant("train/mask", kept)});
}

}  // namespace mlopt::train
