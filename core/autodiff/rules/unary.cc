#include <algorithm>
#include <limits>

#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// What the derivative of an elementwise operator is a function of: its output where that is enough (the input may then
/// be freed, or never have been stored), else its input; and its parameters.
struct Unary {
  std::string_view op;
  bool of_output;
  std::pair<const char*, float> alpha = {nullptr, 0}, beta = {nullptr, 0};
};

constexpr Unary kUnary[] = {
    {"Abs", false},
    {"Acos", false},
    {"Acosh", false},
    {"Asin", false},
    {"Asinh", false},
    {"Atan", false},
    {"Atanh", false},
    {"Celu", false, {"alpha", 1.0f}},
    {"Cos", false},
    {"Cosh", false},
    {"Elu", false, {"alpha", 1.0f}},
    {"Erf", false},
    {"HardSigmoid", false, {"alpha", 0.2f}, {"beta", 0.5f}},
    {"HardSwish", false},
    {"LeakyRelu", false, {"alpha", 0.01f}},
    {"Mish", false},
    {"Relu", true},
    {"Selu", false, {"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}},
    {"Sigmoid", true},
    {"Sin", false},
    {"Sinh", false},
    {"Softplus", false},
    {"Softsign", false},
    {"Swish", false, {"alpha", 1.0f}},
    {"Tan", false},
    {"Tanh", true},
    {"ThresholdedRelu", false, {"alpha", 1.0f}},
};

/// dy * f'(v) as one node, v being the operator's input or output.
Value* slope(GradArgs& a, std::string_view op, Value* v, double alpha = 0, double beta = 0) {
  return a.own(
      "UnaryGrad", {v, a.grad()},
      {{"of", std::string(op), {}}, {"alpha", static_cast<float>(alpha), {}}, {"beta", static_cast<float>(beta), {}}},
      a.in(0));
}

std::vector<Value*> unary(GradArgs& a) {
  const std::string_view op = a.view.node().op;
  const Unary& u = *std::find_if(std::begin(kUnary), std::end(kUnary), [&](const Unary& row) { return row.op == op; });
  const auto parameter = [&](const auto& p) { return p.first ? a.view.get_float(p.first, p.second) : 0.0f; };
  return {slope(a, op, u.of_output ? a.out() : a.in(0), parameter(u.alpha), parameter(u.beta))};
}

std::vector<Value*> gelu(GradArgs& a) {
  return {slope(a, a.view.get_string("approximate", "none") == "tanh" ? "GeluTanh" : "Gelu", a.in(0))};
}

/// com.microsoft's, x times the logistic function of alpha x.
std::vector<Value*> quick_gelu(GradArgs& a) { return {slope(a, "Swish", a.in(0), a.view.get_float("alpha", 1.702f))}; }

std::vector<Value*> clip(GradArgs& a) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto low = a.view.number("min", 1, -kMost), high = a.view.number("max", 2, kMost);
  if (!low || !high) a.refuse("its limits depend on data");
  return {slope(a, "Clip", a.in(0), *low, *high)};
}

std::vector<Value*> exp(GradArgs& a) { return {a.op("Mul", {a.grad(), a.out()})}; }
std::vector<Value*> identity(GradArgs& a) { return {a.grad()}; }
std::vector<Value*> log(GradArgs& a) { return {a.op("Div", {a.grad(), a.in(0)})}; }
std::vector<Value*> neg(GradArgs& a) { return {a.op("Neg", {a.grad()})}; }
std::vector<Value*> sqrt(GradArgs& a) { return {a.op("Div", {a.scaled(a.grad(), 0.5), a.out()})}; }

std::vector<Value*> reciprocal(GradArgs& a) {
  return {a.op("Neg", {a.op("Mul", {a.grad(), a.op("Mul", {a.out(), a.out()})})})};
}

std::vector<Value*> cast(GradArgs& a) { return {a.converted(a.grad(), a.in(0)->type.dtype)}; }

/// Steps are flat wherever they have a derivative, and so is what reads a shape alone.
std::vector<Value*> flat(GradArgs&) { return {}; }

constexpr GradRule kRules[] = {
    {"Abs", unary},
    {"Acos", unary},
    {"Acosh", unary},
    {"Asin", unary},
    {"Asinh", unary},
    {"Atan", unary},
    {"Atanh", unary},
    {"Bernoulli", flat},
    {"Cast", cast},
    {"Ceil", flat},
    {"Celu", unary},
    {"Clip", clip},
    {"Cos", unary},
    {"Cosh", unary},
    {"Elu", unary},
    {"Erf", unary},
    {"Exp", exp},
    {"Floor", flat},
    {"Gelu", gelu},
    {"HardSigmoid", unary},
    {"HardSwish", unary},
    {"Identity", identity},
    {"LeakyRelu", unary},
    {"Log", log},
    {"Mish", unary},
    {"Neg", neg},
    {"RandomNormalLike", flat},
    {"RandomUniformLike", flat},
    {"Reciprocal", reciprocal},
    {"Relu", unary},
    {"Round", flat},
    {"Selu", unary},
    {"Sigmoid", unary},
    {"Sign", flat},
    {"Sin", unary},
    {"Sinh", unary},
    {"Softplus", unary},
    {"Softsign", unary},
    {"Sqrt", sqrt},
    {"Swish", unary},
    {"Tan", unary},
    {"Tanh", unary},
    {"ThresholdedRelu", unary},
    {"Gelu", gelu, "com.microsoft"},
    {"QuickGelu", quick_gelu, "com.microsoft"},
};

}  // namespace

std::span<const GradRule> unary_rules() { return kRules; }

}  // namespace mlopt::autodiff
