// |x| |x| -> x x, |x| ^ 2 -> x ^ 2, and likewise in sums of squares: PaddlePaddle's lengths of vectors.
#include <cmath>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> of_product(const Match& m, Builder& builder) {
  if (m.root->input(0) != m.root->input(1)) return Decline{};
  Value* x = m.value("x");
  return Replacement{builder.op("Mul", {x, x}, {}, m.root->output(0)->type)};
}

Expected<Replacement> of_power(const Match& m, Builder& builder) {
  const Tensor& exponent = m.constant("c");
  for (const double c : to_doubles(exponent))
    if (std::fmod(c, 2) != 0) return Decline{"its exponent is not even"};
  return Replacement{builder.op("Pow", {m.value("x"), m.root->input(1)}, m.root->attrs, m.root->output(0)->type)};
}

Expected<Replacement> of_sum(const Match& m, Builder& builder) {
  std::vector<Value*> inputs = m.root->inputs();
  inputs[0] = m.value("x");
  return Replacement{builder.op(m.root->op, std::move(inputs), m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto abs = [] { return Pattern::op("Abs", {Pattern::any("x")}); };
  return {{Pattern::op("Mul", {abs(), Pattern::any("same")}), of_product},
          {Pattern::op("Pow", {abs(), Pattern::constant("c")}), of_power},
          {Pattern::op("ReduceSumSquare|ReduceL1|ReduceL2", {abs()}).open(), of_sum}};
}

}  // namespace

const Pass fold_abs = {"fold_abs", "leave out Abs in front of squares and of sums of absolute values", rules};

}  // namespace mlopt::graphopt
