#include "prune/structure/prove.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "core/calib/compare_runs.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"

namespace mlopt::prune {
namespace {

/// Of the coarsest floats that the model computes in.
double epsilon_of(const Model& model) {
  double epsilon = 0x1p-23;
  for (const Node* node : all_nodes(*model.graph))
    for (const Value* v : node->outputs()) {
      if (v && v->type.is_tensor() && v->type.dtype == DType::kF16) epsilon = std::max(epsilon, 0x1p-10);
      if (v && v->type.is_tensor() && v->type.dtype == DType::kBF16) epsilon = std::max(epsilon, 0x1p-7);
    }
  return epsilon;
}

/// Relative to the largest number of an output: sums of some hundred layers, each in another order.
constexpr double kCoefficient = 400;

/// The worst output, relative to its largest number.
Difference compared(Executable& expected, Executable& actual, const Dataset& data) {
  Difference worst;
  const auto relative = [](const Difference& d) { return d.max_abs / std::max(d.max_expected, 1e-6); };
  for (const OutputComparison& output : compare_runs(expected, actual, data, {.samples = 2}).outputs) {
    if (!output.difference)
      internal_error("the pruned model gives another output than the masked one: " + output.problem, output.name);
    const Difference& d = *output.difference;
    if (!d.same_nonfinite || relative(d) >= relative(worst)) worst = d;
    if (!d.same_nonfinite) break;
  }
  return worst;
}

}  // namespace

Difference pruned_from_masked(const Model& masked, const Model& pruned, const Runner& runner, const Dataset* data,
                              uint64_t seed) {
  const auto expected = runner.compile(masked), actual = runner.compile(pruned);
  if (data) return compared(*expected, *actual, *data);
  const std::vector<InputSpec> inputs = model_inputs(masked);
  try {
    return compared(*expected, *actual, *random_dataset(inputs, {.count = 2, .seed = seed, .distinct = true}));
  } catch (const Error& error) {
    if (error.code == Code::kInternal) throw;
    // Some models have free dimensions that take one size only.
    return compared(*expected, *actual, *random_dataset(inputs, {.count = 2, .seed = seed}));
  }
}

void require_proof(const Difference& difference, const Model& model) {
  const double limit = kCoefficient * epsilon_of(model) * std::max(difference.max_expected, 1e-6);
  if (difference.same_nonfinite && difference.max_abs <= limit) return;
  internal_error(fmt::format("the pruned model differs by {:.3g} from the model whose removed channels are zero, more "
                             "than the {:.3g} that rounding explains",
                             difference.max_abs, limit),
                 model.path);
}

}  // namespace mlopt::prune
