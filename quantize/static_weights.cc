#include "quantize/static_weights.h"

#include <algorithm>

#include "core/calib/features.h"
#include "core/tensor/cast.h"
#include "quantize/emit/weights.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

constexpr int kByte = 8;
constexpr int64_t kProductBytes = int64_t{1} << 30;  // of what is observed at once

/// Weights of layers on integers, each with one reader.
std::vector<Weight> rounded_weights(const Model& model, const Plan& plan) {
  const WeightChoice choice{.verb = "quantize", .done = "quantized", .stored_only = true};
  std::vector<Weight> weights = find_weights(model, choice).weights;
  std::erase_if(weights, [&](const Weight& w) {
    const Node* node = w.readers[0];
    return w.readers.size() != 1 || !plan.nodes.contains(node) || !is_weighted(*node) || node->input(1) != w.value ||
           !features_problem(w).empty();
  });
  return weights;
}

QuantizedWeight round_one(const Weight& w, const Observed& seen, float input_scale, const Spec& spec) {
  const Node& node = *w.readers[0];
  const Tensor& numbers = *w.value->constant;
  const Tensor* bias = node.input(2) ? node.input(2)->known_constant() : nullptr;
  const int axis = spec.per_tensor ? -1 : weight_axis(node);
  const std::vector<float> steps =
      weight_scales(numbers, axis, least_scales(node, numbers, bias, input_scale, spec), spec.weight_bits);
  Scheme scheme;
  scheme.bits = spec.weight_bits;
  scheme.symmetric = true;
  scheme.per_tensor = spec.per_tensor;
  const Coded coded = encode(find_method(spec.method), {load(w), scheme, &seen, w.groups, false, steps});
  Tensor codes(DType::kI8, numbers.dims());
  auto* to = codes.mutable_data<int8_t>();
  const int zero = 1 << (spec.weight_bits - 1);
  for (int64_t r = 0; r < w.rows; ++r)
    for (int64_t c = 0; c < w.columns; ++c)
      to[w.row_at[static_cast<size_t>(r)] + w.column_at[static_cast<size_t>(c)]] =
          static_cast<int8_t>(coded.codes[static_cast<size_t>(r * w.columns + c)] - zero);
  const DType type = weight_type(spec.weight_bits);
  const Dims dims = spec.per_tensor ? Dims{} : Dims{std::ssize(steps)};
  const Tensor scale = Tensor::of<float>(dims, steps), zeros = Tensor::zeros(DType::kI8, dims);
  return type == DType::kI4 ? QuantizedWeight{pack(codes, type), scale, pack(zeros, type)}
                            : QuantizedWeight{codes, scale, zeros};
}

}  // namespace

void prepare_products(Model& model, const Spec& spec, const Looking& data) {
  const WeightChoice choice{spec.only, spec.skip, "quantize", "quantized", true};
  std::vector<Weight> weights = find_weights(model, choice).weights;
  std::erase_if(weights, [](const Weight& w) {
    return (w.op != "MatMul" && w.op != "Gemm") || !features_problem(w).empty() ||
           w.value->constant->dtype() != DType::kF32 || !w.value->known_constant();
  });
  if (weights.empty()) return;
  std::vector<Observed> seen = observe(model, weights, {}, data);
  find_method(spec.method).prepare(weights, seen, spec);
}

Rounded round_weights(const Model& model, const Plan& plan, const std::map<std::string, Grid>& grids, const Spec& spec,
                      const Looking& data) {
  Rounded done;
  if (spec.weight_bits == 1 || spec.weight_bits > kByte) return done;
  const std::vector<Weight> all = rounded_weights(model, plan);
  for (size_t first = 0; first < all.size();) {
    size_t end = first;
    for (int64_t bytes = 0; end < all.size() && (end == first || bytes < kProductBytes); ++end)
      bytes += all[end].groups * all[end].columns * all[end].columns * static_cast<int64_t>(sizeof(float));
    const auto stage = std::span(all).subspan(first, end - first);
    const std::vector<Observed> seen = observe(model, stage, {.products = true}, data);
    for (size_t i = 0; i < stage.size(); ++i) {
      const Node* node = stage[i].readers[0];
      const float input_scale = grids.at(plan.owner(node->input(0))->name).scale;
      done.emplace(node, round_one(stage[i], seen[i], input_scale, spec));
      if (data.progress) data.progress("rounding weights", static_cast<int64_t>(first + i) + 1, std::ssize(all));
    }
    first = end;
  }
  return done;
}

}  // namespace mlopt::quantize
