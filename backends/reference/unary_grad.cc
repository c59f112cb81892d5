#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/reference/kernels.h"
#include "backends/reference/map.h"

namespace mlopt::reference {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

double mish_slope(double x) {
  const double t = std::tanh(std::log1p(std::exp(x)));
  return t + x * (1 - t * t) * sigmoid_of(x);
}

/// Of 0.5 x (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
double gelu_tanh_slope(double x) {
  const double root = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

double swish_slope(double x, double alpha) {
  const double s = sigmoid_of(alpha * x);
  return s + alpha * x * s * (1 - s);
}

/// The derivative of an operator at its input or output v (see core/autodiff/rules/unary.cc), with two parameters. At a
/// kink it is that of the left side, but for Clip, which passes the gradient at its limits.
struct Slope {
  std::string_view op;
  double (*at)(double v, double alpha, double beta);
};

constexpr Slope kSlopes[] = {
    {"Abs", [](double x, double, double) { return x > 0   ? 1.0
                                                  : x < 0 ? -1.0
                                                          : 0.0; }},
    {"Acos", [](double x, double, double) { return -1 / std::sqrt(1 - x * x); }},
    {"Acosh", [](double x, double, double) { return 1 / std::sqrt(x * x - 1); }},
    {"Asin", [](double x, double, double) { return 1 / std::sqrt(1 - x * x); }},
    {"Asinh", [](double x, double, double) { return 1 / std::sqrt(x * x + 1); }},
    {"Atan", [](double x, double, double) { return 1 / (1 + x * x); }},
    {"Atanh", [](double x, double, double) { return 1 / (1 - x * x); }},
    {"Celu", [](double x, double a, double) { return x > 0 ? 1.0 : std::exp(x / a); }},
    {"Clip", [](double x, double low, double high) { return x >= low && x <= high ? 1.0 : 0.0; }},
    {"Cos", [](double x, double, double) { return -std::sin(x); }},
    {"Cosh", [](double x, double, double) { return std::sinh(x); }},
    {"Elu", [](double x, double a, double) { return x > 0 ? 1.0 : a * std::exp(x); }},
    {"Erf", [](double x, double, double) { return 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x); }},
    {"Gelu",
     [](double x, double, double) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * normal_density(x); }},
    {"GeluTanh", [](double x, double, double) { return gelu_tanh_slope(x); }},
    {"HardSigmoid", [](double x, double a, double b) { return a * x + b > 0 && a * x + b < 1 ? a : 0.0; }},
    {"HardSwish", [](double x, double, double) { return x <= -3  ? 0.0
                                                        : x >= 3 ? 1.0
                                                                 : x / 3 + 0.5; }},
    {"LeakyRelu", [](double x, double a, double) { return x > 0 ? 1.0 : a; }},
    {"Mish", [](double x, double, double) { return mish_slope(x); }},
    {"Relu", [](double y, double, double) { return y > 0 ? 1.0 : 0.0; }},
    {"Selu", [](double x, double a, double gamma) { return gamma * (x > 0 ? 1.0 : a * std::exp(x)); }},
    {"Sigmoid", [](double y, double, double) { return y * (1 - y); }},
    {"Sin", [](double x, double, double) { return std::cos(x); }},
    {"Sinh", [](double x, double, double) { return std::cosh(x); }},
    {"Softplus", [](double x, double, double) { return sigmoid_of(x); }},
    {"Softsign", [](double x, double, double) { return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x))); }},
    {"Swish", [](double x, double a, double) { return swish_slope(x, a); }},
    {"Tan", [](double x, double, double) { return 1 / (std::cos(x) * std::cos(x)); }},
    {"Tanh", [](double y, double, double) { return 1 - y * y; }},
    {"ThresholdedRelu", [](double x, double a, double) { return x > a ? 1.0 : 0.0; }},
};

/// Inputs v and dy of one shape: dy * f'(v) for the operator f named by `of`.
void unary_grad(Call& call) {
  const std::string of = call.view.get_string("of", "");
  const auto slope = std::find_if(std::begin(kSlopes), std::end(kSlopes), [&](const Slope& s) { return s.op == of; });
  if (slope == std::end(kSlopes)) fail(call, "no derivative of '" + of + "'");
  const double alpha = call.view.get_float("alpha", 0), beta = call.view.get_float("beta", 0);
  const Tensor& v = call.in(0);
  require(call, v.dims() == call.in(1).dims() && v.dtype() == call.in(1).dtype(), "the inputs must be of one type");
  with_float(call, v.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor at = widened(v), grad = widened(call.in(1));
    Tensor out(at.dtype(), v.dims());
    T* o = out.mutable_data<T>();
    parallel_for(v.size(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        o[i] = static_cast<T>(static_cast<double>(grad.data<T>()[i]) *
                              slope->at(static_cast<double>(at.data<T>()[i]), alpha, beta));
    });
    call.set(0, as(out, v.dtype()));
  });
}

constexpr Kernel kKernels[] = {{"mlopt", "UnaryGrad", unary_grad}};

}  // namespace

std::span<const Kernel> unary_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
