#include "quantize/static_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "core/calib/features.h"
#include "core/tensor/cast.h"
#include "quantize/emit/weights.h"
#include "quantize/methods.h"
#include "quantize/reconstruct/reconstruct.h"
#include "quantize/reconstruct/round_activations.h"

namespace mlopt::quantize {
namespace {

constexpr int kByte = 8;

std::string problem_of(const Weight& w, const Spec& spec) {
  if (spec.weight_bits == 1 || spec.weight_bits > kByte) return "it has 1 bit, or more than 8";
  if (w.readers.size() != 1) return "several layers read its weight";
  return features_problem(w);
}

/// Weights of layers on integers, each with one reader.
std::vector<Weight> rounded_weights(const Model& model, const Plan& plan, const Spec& spec, Fallbacks& fell_back) {
  const WeightChoice choice{.verb = "quantize", .done = "quantized", .stored_only = true};
  std::vector<Weight> weights = find_weights(model, choice).weights;
  std::erase_if(weights, [&](const Weight& w) {
    const Node* node = w.readers[0];
    if (!plan.nodes.contains(node) || !is_weighted(*node) || node->input(1) != w.value) return true;
    const std::string problem = problem_of(w, spec);
    if (!problem.empty()) fell_back.emplace(w.layer, "to nearest, for " + problem);
    return !problem.empty();
  });
  return weights;
}

std::vector<float> steps_of(const Weight& w, float input_scale, const Spec& spec) {
  const Node& node = *w.readers[0];
  const Tensor& numbers = *w.value->constant;
  const Tensor* bias = node.input(2) ? node.input(2)->known_constant() : nullptr;
  const int axis = spec.per_tensor ? -1 : weight_axis(node);
  return weight_scales(numbers, axis, least_scales(node, numbers, bias, input_scale, spec), spec.weight_bits);
}

Coded code(const Weight& w, const Method& method, const Observed* seen, std::span<const float> steps,
           const Spec& spec) {
  Scheme scheme;
  scheme.bits = spec.weight_bits;
  scheme.symmetric = true;
  scheme.per_tensor = spec.per_tensor;
  return encode(method, {load(w), scheme, seen, w.groups, false, steps});
}

bool is_depthwise(const Weight& w) { return w.groups > 1 && w.columns == w.kernel; }

/// Steps have room for two products beside each other when codes are the nearest. Those that a method has moved to
/// where a sum of two leaves int16 go back as far as is needed.
void keep_room(const Weight& w, Coded& coded) {
  constexpr int kMostPair = 128;
  const Matrix values = load(w);
  const int64_t inputs = w.columns / w.kernel;  // sums go by place, then by input
  for (int64_t r = 0; r < w.rows; ++r)
    for (int64_t k = 0; k + 1 < w.columns; k += 2) {
      const std::array<int64_t, 2> columns = {k % inputs * w.kernel + k / inputs,
                                              (k + 1) % inputs * w.kernel + (k + 1) / inputs};
      const auto code = [&](int64_t c) -> uint8_t& { return coded.codes[static_cast<size_t>(r * w.columns + c)]; };
      const int zero = 1 << (kByte - 1), sum = code(columns[0]) + code(columns[1]) - 2 * zero, sign = sum < 0 ? -1 : 1;
      int over = sum * sign - kMostPair;
      for (const int64_t c : columns) {
        if (over <= 0) break;
        const int nearest = coded.alphabet(coded.alphabet_at(r, c)).nearest(values.at(r, c));
        const int back = std::clamp((code(c) - nearest) * sign, 0, over);
        code(c) = static_cast<uint8_t>(code(c) - sign * back);
        over -= back;
      }
    }
}

QuantizedWeight stored(const Weight& w, Coded coded, const std::vector<float>& steps, const Spec& spec) {
  if (spec.weight_bits == kByte)
    for (uint8_t& code : coded.codes) code = std::max<uint8_t>(code, 1);  // the range is as wide on both sides
  if (spec.pairs_saturate() && !is_depthwise(w)) keep_room(w, coded);
  Tensor codes(DType::kI8, w.value->constant->dims());
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

/// Codes of weights and scales of activations, block by block; takes out the weights that have their codes now.
void learn_blocks(const Model& model, std::vector<Weight>& weights, std::map<std::string, Grid>& grids,
                  const Spec& spec, const Looking& data, TypeRule types,
                  const std::function<float(const Weight&)>& input_scale, RoundedWeights& done) {
  std::vector<SoftWeight> soft;
  std::vector<std::vector<float>> steps;
  for (const Weight& w : weights) {
    steps.push_back(steps_of(w, input_scale(w), spec));
    soft.emplace_back(w, code(w, find_method("mse"), nullptr, steps.back(), spec));
  }
  Model student = clone(model);
  const std::map<std::string, std::string> by_value = round_activations(student, make_plan(student, spec), grids);
  std::vector<std::string> logs;
  for (const auto& [value, log] : by_value) logs.push_back(log);
  const Reconstructed learned = reconstruct(model, student, soft, logs, data, types);
  for (const auto& [value, log] : by_value)
    if (const auto at = learned.scales.find(log); at != learned.scales.end())
      grids.at(value).scale = usable_scale(std::exp(number_at(at->second, 0)));
  const std::set<std::string> names(learned.weights.begin(), learned.weights.end());
  for (size_t i = 0; i < soft.size(); ++i)
    if (names.contains(soft[i].name()))
      done.codes.emplace(weights[i].readers[0], stored(weights[i], soft[i].coded(), steps[i], spec));
    else
      done.fell_back.emplace(weights[i].layer, "by itself, for " + learned.left.at(weights[i].name()));
  std::erase_if(weights, [&](const Weight& w) { return names.contains(w.name()); });
}

}  // namespace

int64_t prepare_products(Model& model, const Spec& spec, const Looking& data) {
  const WeightChoice choice{spec.only, spec.skip, "quantize", "quantized", true};
  std::vector<Weight> weights = find_weights(model, choice).weights;
  std::erase_if(weights, [](const Weight& w) {
    return (w.op != "MatMul" && w.op != "Gemm") || !features_problem(w).empty() ||
           w.value->constant->dtype() != DType::kF32 || !w.value->known_constant();
  });
  if (weights.empty()) return 0;
  std::vector<Observed> seen = observe(model, weights, {}, data);
  return find_method(spec.method).prepare(weights, seen, std::vector<Spec>(weights.size(), spec));
}

RoundedWeights round_weights(const Model& model, const Plan& plan, std::map<std::string, Grid>& grids, const Spec& spec,
                             const Looking& data, TypeRule types, int64_t product_bytes) {
  RoundedWeights done;
  const Method& method = find_method(spec.method);
  const auto input_scale = [&](const Weight& w) { return grids.at(plan.owner(w.readers[0]->input(0))->name).scale; };
  std::vector<Weight> all = rounded_weights(model, plan, spec, done.fell_back);
  if (method.blocks) learn_blocks(model, all, grids, spec, data, types, input_scale, done);
  for (size_t first = 0; first < all.size();) {
    const size_t end = stage_end(all, first, product_bytes);
    const auto stage = std::span(all).subspan(first, end - first);
    const std::vector<Observed> seen = observe(model, stage, {.products = true}, data);
    for (size_t i = 0; i < stage.size(); ++i) {
      const std::vector<float> steps = steps_of(stage[i], input_scale(stage[i]), spec);
      done.codes.emplace(stage[i].readers[0],
                         stored(stage[i], code(stage[i], method, &seen[i], steps, spec), steps, spec));
      if (data.progress) data.progress("rounding weights", static_cast<int64_t>(first + i) + 1, std::ssize(all));
    }
    first = end;
  }
  return done;
}

}  // namespace mlopt::quantize
