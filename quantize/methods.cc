#include "quantize/methods.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/named.h"
#include "quantize/nonuniform/product_codebook.h"

namespace mlopt::quantize {
namespace {

constexpr Method kMethods[] = {
    {"rtn", "round to nearest over the whole range", fit_minmax, round_to_nearest},
    {"mse", "the range whose squared error is least", fit_mse, round_to_nearest, Look::kSquares},
    {"hqq", "the zero point and scale whose error has the least 3/4-norm", fit_hqq, round_to_nearest},
    {"gptq", "columns make up for the errors of those before; needs data", fit_mse, gptq, Look::kProducts, nullptr,
     Use::kWeightsAndStatic},
    {"quantease", "gptq, then each number in turn while others stay; needs data", fit_mse, quantease, Look::kProducts,
     nullptr, Use::kWeightsAndStatic},
    {"adaround", "down or up as the outputs err least, by gradient descent; needs data", fit_mse, adaround,
     Look::kProducts, nullptr, Use::kWeightsAndStatic},
    {"brecq",
     "adaround of all weights of a residual block together, by what the block gives, and of scales of "
     "activations; needs data",
     fit_mse, adaround, Look::kProducts, nullptr, Use::kWeightsAndStatic, true},
    {"awq", "columns with large inputs are scaled up before; needs data", fit_mse, round_to_nearest, Look::kProducts,
     awq_scales},
    {"smoothquant", "of w8a8 and the like: peaks of activations go into the weights before; needs data", fit_mse,
     round_to_nearest, Look::kSquares, smoothquant_scales, Use::kActivations},
};

}  // namespace

std::span<const Method> methods() { return kMethods; }

const Method& find_method(std::string_view name) { return require_named(methods(), name, "method", "--method"); }

Alphabet Task::alphabet_of(int64_t row) const {
  const float step = steps[steps.size() == 1 ? 0 : static_cast<size_t>(row)];
  return {step, 1 << (scheme.bits - 1), {}, (1 << scheme.bits) - 1};
}

Coded encode(const Method& method, const Task& task) {
  if (task.scheme.levels == Levels::kVectors) return encode_vectors(task);
  const Fit fit = task.scheme.levels == Levels::kCodebook ? fit_codebook
                  : task.scheme.is_ternary()              ? fit_ternary
                                                          : method.fit;
  const bool blind = method.look == Look::kProducts && !(task.seen && !task.seen->products.empty());
  return blind ? round_to_nearest(task, fit) : method.encode(task, fit);
}

size_t stage_end(std::span<const Weight> weights, size_t first, int64_t bytes) {
  size_t end = first;
  for (int64_t taken = 0; end < weights.size() && (end == first || taken < bytes); ++end)
    taken += weights[end].groups * weights[end].columns * weights[end].columns * static_cast<int64_t>(sizeof(float));
  return end;
}

Matrix sampled_rows(const Weight& weight) {
  constexpr int64_t kSampled = 64;
  const int64_t count = std::min(kSampled, weight.rows);
  Matrix some = Matrix::zeros(count, weight.columns);
  for (int64_t i = 0; i < count; ++i) {
    const Matrix one = load(weight, i * weight.rows / count, 1);
    std::copy(one.values.begin(), one.values.end(), some.row(i).begin());
  }
  return some;
}

}  // namespace mlopt::quantize
