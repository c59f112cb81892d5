// 1 / (1 + exp(-x)) -> Sigmoid(x), and x / (1 + exp(-x)) -> x Sigmoid(x), which is SiLU.
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

/// The number beside the power is 1, and all have the shape of x.
const char* why_no_sigmoid(const Match& m) {
  const Value* x = m.value("x");
  const size_t axes = x->type.dims ? x->type.dims->size() : 0;
  if (!is_float(x->type.dtype) || !x->type.dims) return "its type is not known";
  const auto one = number_in(m.value("one"), axes);
  return one == 1.0 ? nullptr : "another number than 1 is added";
}

Expected<Replacement> inverse(const Match& m, Builder& builder) {
  if (const char* why = why_no_sigmoid(m)) return Decline{why};
  Value* x = m.value("x");
  return Replacement{builder.op("Sigmoid", {x}, {}, x->type)};
}

Expected<Replacement> quotient(const Match& m, Builder& builder) {
  if (const char* why = why_no_sigmoid(m)) return Decline{why};
  Value *x = m.value("x"), *over = m.value("over");
  if (const auto number = number_in(over, x->type.dims->size()); number && *number == 1.0) return inverse(m, builder);
  if (over != x) return Decline{"another value is divided"};
  return Replacement{builder.op("Mul", {x, builder.op("Sigmoid", {x}, {}, x->type)}, {}, x->type)};
}

std::vector<Rule> rules() {
  const auto sum = [] {
    Pattern power = Pattern::op("Exp", {Pattern::op("Neg", {Pattern::any("x")}).single_use()}).single_use();
    return Pattern::op("Add", {std::move(power), Pattern::constant("one")}).any_order().single_use();
  };
  return {{Pattern::op("Div", {Pattern::any("over"), sum()}), quotient}, {Pattern::op("Reciprocal", {sum()}), inverse}};
}

}  // namespace

const Pass fuse_sigmoid = {"fuse_sigmoid", "the operators that the logistic function is written out as, as one", rules};

}  // namespace mlopt::fusion
