#include "prune/structure/prove.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/calib/compare_runs.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/activations.h"

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

/// Relative to the largest number of an output: sums of some hundred layers, each in another order, in epsilons; but
/// never more than a twentieth, which short floats would give.
constexpr double kCoefficient = 400, kMost = 0.05;

/// Normalizations of nearly constant images multiply what rounding does: then a few places differ by more. What a
/// wrong channel does is far below this SQNR and above this share of the largest number.
constexpr double kLeastSqnr = 70, kMostPlaces = 1e-3;

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

/// Integers round alike only where the same kernels run: the judge's.
bool quantized(const Model& model) {
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return n->op == "QuantizeLinear"; });
}

/// Of a run whose free dimensions are 1; 0 where that is not known.
int64_t value_bytes(const Model& model, TypeRule standard) {
  try {
    return activation_peak(*with_smallest_inputs(model, standard).graph).bytes;
  } catch (const Error&) {
    return 0;
  }
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
  const double largest = std::max(difference.max_expected, 1e-6);
  const double limit = std::min(kCoefficient * epsilon_of(model), kMost) * largest;
  const bool amplified = difference.sqnr_db >= kLeastSqnr && difference.max_abs <= kMostPlaces * largest;
  if (difference.same_nonfinite && (difference.max_abs <= limit || amplified)) return;
  if (!difference.same_nonfinite && !difference.lost_numbers)
    input_error("the model gives NaN or infinity on the samples: whether the pruned one is right cannot be told",
                model.path, "give --data on which its outputs are finite, or mend its weights and attributes");
  internal_error(
      fmt::format("the pruned model differs by {:.3g} (SQNR {:.1f} dB) from the model whose removed channels "
                  "are zero, more than the {:.3g} that rounding explains",
                  difference.max_abs, difference.sqnr_db, limit),
      model.path);
}

void prove(const Model& masked, const Model& source, uint64_t seed, const Means& means, Pruned& result) {
  constexpr const char* kClaim = "that what was removed alone makes the difference: ";
  const int64_t bytes = means.data ? 0 : value_bytes(masked, means.passes.standard_types);
  if (bytes > kMostGeneratedValueBytes) {
    result.not_verified.push_back(fmt::format("{}the values of a run, {}, are much to make of generated data", kClaim,
                                              format_bytes(static_cast<double>(bytes))));
    return;
  }
  const Runner plain{*means.passes.judge, [](Model&) {}};
  const Runner& runner = quantized(masked) ? plain : *means.runner;
  Difference difference;
  try {
    difference = pruned_from_masked(masked, result.model, runner, means.data, seed);
  } catch (const Error& error) {
    if (error.code == Code::kInternal) throw;
    result.not_verified.push_back(kClaim + error.message);
    return;
  }
  require_proof(difference, source);
  if (difference.max_expected == 0) {
    result.not_verified.push_back(std::string(kClaim) + "all outputs are zero on generated inputs");
    return;
  }
  result.proof = difference;
}

}  // namespace mlopt::prune
