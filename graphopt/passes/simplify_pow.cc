// x ^ 2 -> x * x, x ^ -1 -> 1 / x, x ^ 0.5 -> Sqrt(x) where x is not negative.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/limits.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// The variance of a normalization, which runtimes find by its Pow.
bool is_averaged(const Value& y) {
  return std::any_of(y.uses.begin(), y.uses.end(), [](const Use& use) { return use.node->is("ReduceMean"); });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Tensor& c = m.constant("c");
  const Value* y = m.root->output(0);
  if (!is_foldable_float(x->type.dtype) || builder.opset() < 7) return Decline{"its elements are no floats"};
  if (c.size() != 1 || (c.rank() > 0 && (!x->type.dims || c.rank() > static_cast<int>(x->type.dims->size()))))
    return Decline{"its exponent is not one number"};
  const double exponent = number_at(c, 0);
  if (exponent == 2) {
    if (is_averaged(*y)) return Decline{"runtimes look for a power in normalizations"};
    return Replacement{builder.op("Mul", {x, x}, {}, y->type)};
  }
  if (exponent == -1) return Replacement{builder.op("Reciprocal", {x}, {}, y->type)};
  if (exponent == 0.5 && never_negative(*x, builder)) return Replacement{builder.op("Sqrt", {x}, {}, y->type)};
  return Decline{"its exponent has no operator of its own"};
}

std::vector<Rule> rules() { return {{Pattern::op("Pow", {Pattern::any("x"), Pattern::constant("c")}), rewrite}}; }

}  // namespace

const Pass simplify_pow = {"simplify_pow", "replace powers by Mul, Reciprocal and Sqrt", rules};

}  // namespace mlopt::graphopt
