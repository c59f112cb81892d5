#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

std::vector<Value*> add(GradArgs& a) { return {a.grad(), a.grad()}; }

std::vector<Value*> sub(GradArgs& a) { return {a.grad(), a.needs(1) ? a.op("Neg", {a.grad()}) : nullptr}; }

std::vector<Value*> mul(GradArgs& a) {
  return {a.needs(0) ? a.op("Mul", {a.grad(), a.in(1)}) : nullptr,
          a.needs(1) ? a.op("Mul", {a.grad(), a.in(0)}) : nullptr};
}

/// y = a / b: dy / b, and -y * dy / b.
std::vector<Value*> div(GradArgs& a) {
  Value* first = a.op("Div", {a.grad(), a.in(1)});
  return {first, a.needs(1) ? a.op("Neg", {a.op("Mul", {first, a.out()})}) : nullptr};
}

/// y = a ^ b: b * a ^ (b - 1) * dy, which is 0 where b is, also of a = 0; and y * log(a) * dy, which is 0 where a is
/// not positive.
std::vector<Value*> pow(GradArgs& a) {
  Value *base = a.in(0), *exponent = a.converted(a.in(1), base->type.dtype);
  std::vector<Value*> grads(2);
  if (a.needs(0)) {
    Value* flat = a.op("Equal", {exponent, a.number(0, base)});
    Value* less = a.op("Where", {flat, exponent, a.op("Sub", {exponent, a.number(1, base)})});
    grads[0] = a.op("Mul", {a.grad(), a.op("Mul", {exponent, a.op("Pow", {base, less})})});
  }
  if (a.needs(1)) {
    Value* positive = a.op("Greater", {base, a.number(0, base)});
    Value* log = a.op("Log", {a.op("Where", {positive, base, a.number(1, base)})});
    grads[1] = a.op("Mul", {a.grad(), a.op("Mul", {a.out(), log})});
  }
  return grads;
}

/// Inputs that reach the extreme share the gradient.
std::vector<Value*> extreme(GradArgs& a) {
  std::vector<Value*> reached;
  for (int i = 0; i < a.inputs(); ++i)
    reached.push_back(a.converted(a.op("Equal", {a.in(i), a.out()}), a.out()->type.dtype));
  Value* each = a.op("Div", {a.grad(), a.op("Sum", reached)});
  for (Value*& r : reached) r = a.op("Mul", {r, each});
  return reached;
}

std::vector<Value*> sum(GradArgs& a) { return std::vector<Value*>(static_cast<size_t>(a.inputs()), a.grad()); }

std::vector<Value*> mean(GradArgs& a) {
  return std::vector<Value*>(static_cast<size_t>(a.inputs()), a.scaled(a.grad(), 1.0 / a.inputs()));
}

std::vector<Value*> where(GradArgs& a) {
  Value* none = a.number(0, a.grad());
  return {nullptr, a.needs(1) ? a.op("Where", {a.in(0), a.grad(), none}) : nullptr,
          a.needs(2) ? a.op("Where", {a.in(0), none, a.grad()}) : nullptr};
}

/// y = x where x >= 0, else slope * x.
std::vector<Value*> prelu(GradArgs& a) {
  Value* zero = a.number(0, a.in(0));
  Value* negative = a.op("Less", {a.in(0), zero});
  std::vector<Value*> grads(2);
  if (a.needs(0)) grads[0] = a.op("Mul", {a.grad(), a.op("Where", {negative, a.in(1), a.number(1, a.in(0))})});
  if (a.needs(1)) grads[1] = a.op("Mul", {a.grad(), a.op("Where", {negative, a.in(0), zero})});
  return grads;
}

constexpr GradRule kRules[] = {
    {"Add", add},     {"Div", div}, {"Max", extreme}, {"Mean", mean}, {"Min", extreme}, {"Mul", mul},
    {"PRelu", prelu}, {"Pow", pow}, {"Sub", sub},     {"Sum", sum},   {"Where", where},
};

}  // namespace

std::span<const GradRule> binary_rules() { return kRules; }

}  // namespace mlopt::autodiff
