// ReduceSum(x) / n, or times 1 / n, for the n elements that each sum is of -> ReduceMean(x).
#include <cmath>

#include "core/rewrite/numbers.h"
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

/// How many elements each result is of; nothing where that is not known.
std::optional<double> terms(const SymDims& x, const Reduction& reduction) {
  double count = 1;
  for (const int64_t axis : reduction.axes) {
    const auto length = x[static_cast<size_t>(axis)].value();
    if (!length || *length < 1) return std::nullopt;
    count *= static_cast<double>(*length);
  }
  return count;
}

/// Is it that number as its type holds it?
bool holds(const Value* v, double number, size_t rank) {
  const auto found = number_in(v, rank);
  if (!found) return false;
  const Tensor rounded = cast(Tensor::of<double>({}, {number}), v->type.dtype);
  return std::abs(*found - number) <= 1e-6 * number || *found == number_at(rounded, 0);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!is_float(x->type.dtype)) return Decline{"a mean of integers is cut off"};
  const Node& sum = *m.node("sum");
  const auto reduction = Reduction::of(builder.view(sum));
  if (!reduction) return reduction.error();
  const auto count = terms(*x->type.dims, *reduction);
  if (!count || reduction->axes.empty()) return Decline{"how many elements are summed is not known"};
  const auto& dims = sum.output(0)->type.dims;
  const size_t rank = dims ? dims->size() : 0;
  if (!holds(m.value("n"), m.root->is("Div") ? *count : 1 / *count, rank)) return Decline{"it is no mean"};
  return Replacement{make_reduction(builder, "ReduceMean", x, *reduction, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto sum = [] { return Pattern::op("ReduceSum", {Pattern::any("x")}).open().as("sum").single_use(); };
  return {{Pattern::op("Div", {sum(), Pattern::constant("n")}), rewrite},
          {Pattern::op("Mul", {sum(), Pattern::constant("n")}).any_order(), rewrite}};
}

}  // namespace

const Pass sum_to_mean = {"sum_to_mean", "replace a sum that is divided by the number of its terms by ReduceMean",
                          rules};

}  // namespace mlopt::graphopt
