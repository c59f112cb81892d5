#include "quantize/methods.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/named.h"
#include "core/base/text.h"
#include "quantize/nonuniform/product_codebook.h"

namespace mlopt::quantize {
namespace {

constexpr Method kMethods[] = {
    {"rtn", "round to nearest over the whole range", fit_minmax, round_to_nearest},
    {"mse", "the range whose squared error is least", fit_mse, round_to_nearest, Look::kSquares},
    {"hqq", "the zero point and scale whose error has the least 0.7-norm", fit_hqq, round_to_nearest},
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

const Method& find_method(std::string_view name) {
  if (const Method* found = find_named(methods(), name)) return *found;
  std::vector<std::string> names;
  for (const Method& row : methods()) names.emplace_back(row.name);
  usage_error(fmt::format("no method is called '{}'", name), "--method", suggestion(name, names));
}

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

}  // namespace mlopt::quantize
