// x / c -> x * (1 / c) where 1 / c is exact: powers of two.
#include <cmath>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Tensor& c = m.constant("c");
  constexpr int64_t kMost = 1024;
  if (!is_foldable_float(c.dtype()) || c.size() > kMost || aligns_axes(*m.root))
    return Decline{"its divisor is no small tensor of floats"};
  const Node* product = m.value("x")->producer;
  if (product && product->is("MatMul")) return Decline{"runtimes look for a quotient in attention"};
  std::vector<double> inverse = to_doubles(c);
  for (double& n : inverse) {
    int exponent = 0;
    if (std::abs(std::frexp(n, &exponent)) != 0.5 || std::abs(exponent) > 13)
      return Decline{"its divisor is no power of two: the product would be rounded in another way"};
    n = 1 / n;
  }
  const auto factor = tensor_like(c, c.dims(), inverse);
  if (!factor) return Decline{"its divisor has no inverse of its type"};
  Value* made = builder.successor(m.value("c"), *factor);
  return Replacement{builder.op("Mul", {m.value("x"), made}, m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Div", {Pattern::any("x"), Pattern::constant("c")}), rewrite}}; }

}  // namespace

const Pass div_to_mul = {"div_to_mul", "multiply in place of dividing by powers of two", rules};

}  // namespace mlopt::graphopt
