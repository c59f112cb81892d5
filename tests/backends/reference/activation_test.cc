#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

struct Activation {
  const char* op;
  std::vector<Attr> attrs;
  double (*formula)(double);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double clamp01(double x) { return std::fmin(1, std::fmax(0, x)); }

const std::vector<Activation>& activations() {
  static const std::vector<Activation> kAll = {
      {"Celu",
       {attr("alpha", 2.0f)},
       [](double x) { return std::fmax(0, x) + std::fmin(0, 2 * (std::exp(x / 2) - 1)); }},
      {"Elu", {attr("alpha", 0.5f)}, [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; }},
      {"Gelu", {}, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"Gelu",
       {attr("approximate", "tanh")},
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
      {"HardSigmoid", {attr("alpha", 0.25f), attr("beta", 0.75f)}, [](double x) { return clamp01(0.25 * x + 0.75); }},
      {"HardSwish", {}, [](double x) { return x * clamp01(x / 6 + 0.5); }},
      {"LeakyRelu", {attr("alpha", 0.25f)}, [](double x) { return x < 0 ? 0.25 * x : x; }},
      {"Mish", {}, [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }},
      {"Relu", {}, [](double x) { return x > 0 ? x : 0; }},
      {"Selu",
       {attr("alpha", 1.5f), attr("gamma", 2.0f)},
       [](double x) { return 2 * (x > 0 ? x : 1.5 * (std::exp(x) - 1)); }},
      {"Shrink",
       {attr("lambd", 0.5f), attr("bias", 0.25f)},
       [](double x) { return x < -0.5  ? x + 0.25
                             : x > 0.5 ? x - 0.25
                                       : 0; }},
      {"Sigmoid", {}, sigmoid},
      {"Softplus", {}, [](double x) { return std::log(1 + std::exp(x)); }},
      {"Softsign", {}, [](double x) { return x / (1 + std::fabs(x)); }},
      {"Swish", {attr("alpha", 1.5f)}, [](double x) { return x * sigmoid(1.5 * x); }},
      {"Tanh", {}, [](double x) { return std::tanh(x); }},
      {"ThresholdedRelu", {attr("alpha", 0.5f)}, [](double x) { return x > 0.5 ? x : 0; }},
  };
  return kAll;
}

TEST_CASE("activations follow their formula", "[reference]") {
  const auto [type, tolerance] = GENERATE(
      table<DType, double>({{DType::kF64, 1e-14}, {DType::kF32, 5e-7}, {DType::kF16, 1e-3}, {DType::kBF16, 8e-3}}));
  const Tensor x = uniform({4, 9}, -4, 4, type);
  for (const Activation& activation : activations()) {
    std::vector<double> expected = to_doubles(x);
    for (double& value : expected) value = activation.formula(value);
    INFO(activation.op << " in " << name(type));
    const Tensor y = run_op(activation.op, {x}, {.attrs = activation.attrs});
    REQUIRE(y.dtype() == type);
    require_close(cast(y, DType::kF64), tensor({4, 9}, expected, DType::kF64), tolerance);
  }
}

TEST_CASE("activations stay exact far from zero", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity();
  check_cases({
      {"Sigmoid", {tensor({3}, {-80, 0, 90})}, {}, {tensor({3}, {1.8048513878454153e-35, 0.5, 1})}, 1e-40},
      {"Softplus", {tensor({3}, {-200, 200, inf})}, {}, {tensor({3}, {0, 200, inf})}},
      {"Gelu", {tensor({1}, {-6}, DType::kF64)}, {}, {tensor({1}, {-5.919526472737e-9}, DType::kF64)}, 1e-15},
      {"Relu", {tensor({2}, {std::nan(""), -inf})}, {}, {tensor({2}, {std::nan(""), 0})}},
  });
}

TEST_CASE("integers: Relu, Shrink, PRelu and Clip", "[reference]") {
  check_cases({
      {"Relu", {tensor({3}, {-7, 0, 5}, DType::kI8)}, {}, {tensor({3}, {0, 0, 5}, DType::kI8)}},
      {"Shrink",
       {tensor({3}, {-7, 0, 5}, DType::kI32)},
       {{attr("lambd", 1.5f), attr("bias", 1.5f)}},
       {tensor({3}, {-5, 0, 3}, DType::kI32)}},
      {"PRelu",
       {tensor({3}, {-7, 0, 5}, DType::kI32), tensor({1}, {3}, DType::kI32)},
       {},
       {tensor({3}, {-21, 0, 5}, DType::kI32)}},
      {"Clip",
       {tensor({3}, {0, 100, 200}, DType::kU8), tensor({}, {50}, DType::kU8), tensor({}, {150}, DType::kU8)},
       {},
       {tensor({3}, {50, 100, 150}, DType::kU8)}},
  });
}

TEST_CASE("Clip takes its limits from attributes or inputs", "[reference]") {
  const Tensor x = tensor({5}, {-2, -1, 0, 1, 2});
  const Tensor low = tensor({}, {-1}), high = tensor({}, {0.5});
  check_cases({
      {"Clip", {x, low, high}, {}, {tensor({5}, {-1, -1, 0, 0.5, 0.5})}},
      {"Clip", {x, Datum(), high}, {}, {tensor({5}, {-2, -1, 0, 0.5, 0.5})}},
      {"Clip", {x, low}, {}, {tensor({5}, {-1, -1, 0, 1, 2})}},
      {"Clip", {x}, {}, {x}},
      {"Clip", {x, high, low}, {}, {tensor({5}, {-1, -1, -1, -1, -1})}},
      {"Clip", {x}, {{attr("min", -1.0f), attr("max", 0.5f)}, 6}, {tensor({5}, {-1, -1, 0, 0.5, 0.5})}},
      {"Clip", {tensor({1}, {std::nan("")}), low, high}, {}, {tensor({1}, {std::nan("")})}},
  });
}

TEST_CASE("PRelu broadcasts its slope", "[reference]") {
  const Tensor x = tensor({1, 2, 1, 2}, {-1, 2, -3, -4});
  check_cases({
      {"PRelu", {x, tensor({2, 1, 1}, {10, 100})}, {}, {tensor({1, 2, 1, 2}, {-10, 2, -300, -400})}},
      {"PRelu", {x, tensor({2}, {10, 100})}, {{}, 6}, {tensor({1, 2, 1, 2}, {-10, 2, -300, -400})}},
  });
  check_errors({
      {"PRelu", {x, tensor({3}, {1, 2, 3})}, {}, "broadcast"},
      {"PRelu", {tensor({1}, {1}), tensor({2}, {1, 2})}, {}, "slope"},
      {"Gelu", {x}, {{attr("approximate", "fast")}}, "approximate"},
  });
}

TEST_CASE("SwiGLU multiplies the gate with the value", "[reference]") {
  const Tensor a = uniform({2, 5}, -3, 3, DType::kF64, 1), b = uniform({2, 5}, -3, 3, DType::kF64, 2);
  std::vector<double> expected = to_doubles(a);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] *= sigmoid(2 * expected[i]) * number_at(b, static_cast<int64_t>(i));
  check_cases({{"SwiGLU", {a, b}, {{attr("alpha", 2.0f)}, 28}, {tensor({2, 5}, expected, DType::kF64)}, 1e-14}});
  check_errors({{"SwiGLU", {a, tensor({2, 1}, {1, 2}, DType::kF64)}, {{}, 28}, "shape"}});
}

}  // namespace
}  // namespace mlopt::test
