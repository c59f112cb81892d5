#include "core/train/reset.h"

#include <cmath>
#include <optional>

#include "core/base/rng.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "core/train/trainable.h"

namespace mlopt::train {
namespace {

/// What the numbers of a tensor are drawn from.
struct Start {
  double mean = 0;
  double deviation = 0;  ///< of a normal distribution
  double bound = 0;      ///< of a uniform one around the mean
};

Start within(double fan_in) { return {0, 0, 1 / std::sqrt(std::max(1.0, fan_in))}; }

/// Numbers that one output of the layer is a sum over; nothing for other operators.
std::optional<double> fan_in(const NodeView& view, int input) {
  const Node& node = view.node();
  const Value* weights = node.input(input);
  if (!weights || !weights->constant) return std::nullopt;
  const Dims& dims = weights->constant->dims();
  const auto count = static_cast<double>(weights->constant->size());
  if (dims.size() < 2) return std::nullopt;
  if (node.op == "Conv" || node.op == "ConvTranspose") return count / static_cast<double>(dims[0]);
  if (node.op == "Gemm")
    return static_cast<double>(dims[(view.get_int(input == 0 ? "transA" : "transB", 0) != 0) == (input == 1) ? 1 : 0]);
  if (node.op == "MatMul") return static_cast<double>(dims[input == 0 ? dims.size() - 1 : dims.size() - 2]);
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN")
    return static_cast<double>(view.get_int("hidden_size", 1));
  return std::nullopt;
}

bool is_normalization(const Node& node) { return node.op.find("Normalization") != std::string::npos; }

/// Of an input of a normalization: 1 for scales and variances, 0 for shifts and means.
Start start_of_normalization(const Node& node, int input) {
  constexpr int kTables = 2;  // of EmbedLayerNormalization, three from here on
  if (node.op == "EmbedLayerNormalization" && input < kTables + 3) return {0, 0.02, 0};
  const bool joined = node.op.starts_with("Skip");  // the sum that is normalized has a second input
  const int scale = node.op == "EmbedLayerNormalization" ? kTables + 3 : joined ? 2 : 1;
  return {input == scale || (node.op == "BatchNormalization" && input == 4) ? 1.0 : 0.0};
}

Start start_of(const Model& model, const Value& value) {
  const bool vector = value.constant->dims().size() < 2;
  for (const Use& use : value.uses) {
    const NodeView view(*use.node, model.opset(use.node->domain));
    if (is_normalization(*use.node)) return start_of_normalization(*use.node, use.index);
    if (use.node->op == "Gather") return {0, 0.02, 0};
    if (use.node->op == "PRelu") return {0.25};
    if (use.node->op == "Mul" && vector) return {1};
    const auto own = fan_in(view, use.index), of_layer = own ? own : fan_in(view, 1);
    if (of_layer && use.index > 0) return within(*of_layer);
    if (own) return within(*own);
  }
  return vector ? Start{} : Start{0, 0.02, 0};
}

}  // namespace

int64_t reset_weights(Model& model, uint64_t seed) {
  int64_t count = 0;
  Rng seeds(seed);
  for (Value* value : trainable(model, {})) {
    const Start start = start_of(model, *value);
    Rng rng(seeds.next());
    ++count;
    Tensor numbers(DType::kF64, value->constant->dims());
    for (double& x : std::span(numbers.mutable_data<double>(), static_cast<size_t>(numbers.size())))
      x = start.mean + (start.deviation > 0 ? start.deviation * rng.normal()
                        : start.bound > 0   ? rng.uniform(-start.bound, start.bound)
                                            : 0);
    value->constant = cast(numbers, value->constant->dtype());
  }
  return count;
}

}  // namespace mlopt::train
