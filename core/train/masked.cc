#include "core/train/masked.h"

#include <algorithm>

#include "core/tensor/cast.h"
#include "core/train/corrections.h"

namespace mlopt::train {
namespace {

template <size_t N>
bool listed(const std::string_view (&ops)[N], const Node& node) {
  return std::ranges::count(ops, node.op) > 0;
}

/// Does a product or a recurrent layer read it, if only moved, rounded or corrected before? Others, such as biases with
/// several axes, positions and first states, may begin as zeros.
bool is_of_layer(const Value& value) {
  constexpr std::string_view kProducts[] = {"MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum"},
                             kRecurrent[] = {"GRU", "LSTM", "RNN"},
                             kSteps[] = {"Cast",    "Transpose", "Reshape",     "Squeeze",
                                         "Flatten", "Unsqueeze", "FakeQuantize"};
  return std::ranges::any_of(value.uses, [&](const Use& use) {
    const Node& node = *use.node;
    if (listed(kProducts, node)) return use.index < 2;
    if (listed(kRecurrent, node)) return use.index == 1 || use.index == 2;
    const bool corrected = node.op == "Add" && node.input(1) && node.input(1)->name == correction_of(value.name);
    return use.index == 0 && (corrected || listed(kSteps, node)) && is_of_layer(*node.output(0));
  });
}

bool is_of_layer(const Graph& graph, const Tensor& weights) {
  const std::vector<Value*> values = graph.initializers();
  return std::ranges::any_of(values, [&](const Value* v) { return &*v->constant == &weights && is_of_layer(*v); });
}

}  // namespace

Value* masked(Builder& build, Value* gradient, const Tensor& weights) {
  if (weights.rank() < 2) return gradient;
  std::vector<float> mask = to_floats(weights);
  const auto zeros = std::count(mask.begin(), mask.end(), 0.0F);
  if (zeros == 0) return gradient;
  if (zeros == static_cast<std::ptrdiff_t>(mask.size()) && !is_of_layer(build.graph(), weights)) return gradient;
  for (float& x : mask) x = x == 0 ? 0.0F : 1.0F;
  const Tensor kept = cast(Tensor::of<float>(weights.dims(), mask), weights.dtype());
  return build.op("Mul", {gradient, build.graph().add_constant("train/mask", kept)});
}

}  // namespace mlopt::train
