#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

struct Row {
  const char* of;
  double low = -4, high = 4;
};

constexpr Row kRows[] = {{"Abs"},
                         {"Acos", -0.9, 0.9},
                         {"Acosh", 1.2, 4},
                         {"Asin", -0.9, 0.9},
                         {"Asinh"},
                         {"Atan"},
                         {"Atanh", -0.9, 0.9},
                         {"Celu"},
                         {"Clip"},
                         {"Cos"},
                         {"Cosh"},
                         {"Elu"},
                         {"Erf"},
                         {"Gelu"},
                         {"GeluTanh"},
                         {"HardSigmoid"},
                         {"HardSwish"},
                         {"LeakyRelu"},
                         {"Mish"},
                         {"Relu"},
                         {"Selu"},
                         {"Sigmoid", 0, 1},
                         {"Sin"},
                         {"Sinh"},
                         {"Softplus"},
                         {"Softsign"},
                         {"Swish"},
                         {"Tan", -1, 1},
                         {"Tanh", -1, 1},
                         {"ThresholdedRelu"}};

}  // namespace

TEST_CASE("gradients of functions of one number on a GPU") {
  for (const Row& row : kRows) {
    INFO(row.of);
    const OpOptions options{.attrs = {attr("of", row.of), attr("alpha", 0.2f), attr("beta", 0.5f)}, .domain = "mlopt"};
    const Tensor x = uniform({3, 70}, row.low, row.high), dy = uniform({3, 70}, -2, 2, DType::kF32, 2);
    require_on_gpu("UnaryGrad", {x, dy}, options, 5e-6);
  }
  for (const auto& [type, tolerance] : {std::pair(DType::kF16, 1e-3), std::pair(DType::kBF16, 1e-2)})
    require_on_gpu("UnaryGrad", {uniform({9}, -1, 1, type), uniform({9}, -2, 2, type, 2)},
                   {.attrs = {attr("of", "Relu"), {"type0", Type::tensor(type, Dims{9}), {}}}, .domain = "mlopt"},
                   tolerance);
}

TEST_CASE("a type that nothing has inferred is that of what the GPU makes") {
  const Tensor x = uniform({9}, -1, 1, DType::kBF16), dy = uniform({9}, -2, 2, DType::kBF16, 2);
  require_on_gpu("UnaryGrad", {x, dy}, {.attrs = {attr("of", "Relu")}, .domain = "mlopt"}, 1e-2);
}

}  // namespace mlopt::test
