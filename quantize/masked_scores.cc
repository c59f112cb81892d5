#include "quantize/masked_scores.h"

#include <algorithm>
#include <limits>

#include "core/rewrite/numbers.h"

namespace mlopt::quantize {
namespace {

constexpr double kBelow = 12;  // of the lowest score: 6e-6 of what it would have
constexpr double kMask = 100;  // what is so much lower than all scores is no score

bool only_softmax_reads(const Value& y) {
  const Value* v = &y;
  while (v->single_use() && !v->is_output()) {
    const Node& reader = *v->uses[0].node;
    if (reader.is("Softmax")) return true;
    if (!reader.is("Reshape") && !reader.is("Transpose") && !reader.is("Unsqueeze") && !reader.is("Squeeze")) break;
    v = reader.output(0);
  }
  return false;
}

const Histogram* seen_of(Value* v, const Plan& plan, const Calibration& seen) {
  const auto found = v ? seen.values.find(plan.owner(v)->name) : seen.values.end();
  return found == seen.values.end() || found->second.count() == 0 ? nullptr : &found->second;
}

/// The smallest and largest of what a mask adds or puts in place; infinite where not known.
Range extent(Value* mask, const Plan& plan, const Calibration& seen) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (const Tensor* constant = mask ? mask->known_constant() : nullptr) {
    const std::vector<double> numbers = to_doubles(*constant);
    if (numbers.empty()) return {-kInf, kInf};
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    return {*low, *high};
  }
  const Histogram* counts = seen_of(mask, plan, seen);
  return counts ? Range{counts->nonfinite() > 0 ? -kInf : counts->min(), counts->max()} : Range{-kInf, kInf};
}

}  // namespace

std::optional<Range> masked_scores_range(const Value& y, const Plan& plan, const Calibration& seen, const Spec& spec) {
  const Node* node = y.producer;
  const bool sum = node && node->is("Add");
  if (!node || !(sum || node->is("Where")) || !only_softmax_reads(y)) return std::nullopt;
  const int first = sum ? 0 : 1;
  for (const int i : {first, first + 1}) {
    Value *scores = node->input(i), *mask = node->input(2 * first + 1 - i);
    const Histogram* counts = scores->known_constant() ? nullptr : seen_of(scores, plan, seen);
    const Range hidden = extent(mask, plan, seen);
    if (!counts || !(hidden.min < std::min(0.0, counts->min()) - kMask) || !(hidden.max < kMask)) continue;
    Range range = choose_range(*counts, spec.calibration, 1 << spec.activation_bits);
    range.min -= kBelow;
    if (sum) range.max += std::max(0.0, hidden.max);
    return range;
  }
  return std::nullopt;
}

}  // namespace mlopt::quantize
