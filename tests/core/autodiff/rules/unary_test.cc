#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> unary_cases() {
  const Tensor any = real({2, 3, 4}), small = real({2, 5}, -0.9, 0.9), large = real({7}, 1.1, 3),
               some = real({3, 4}, 0.2, 2);
  const Tensor low = real({}, -1.25, -1.2), high = real({}, 0.7, 0.75);
  std::vector<GradCase> rows = {
      {"Acos", {small}},
      {"Acosh", {large}},
      {"Asin", {small}},
      {"Atanh", {small}},
      {"Cast", {any}, {.attrs = {attr("to", static_cast<int>(DType::kF64))}}},
      {"Celu", {any}, {.attrs = {attr("alpha", 0.7f)}}},
      {"Clip", {any}, {.attrs = {attr("min", -1.5f), attr("max", 0.5f)}, .opset = 6}},
      {"Elu", {any}, {.attrs = {attr("alpha", 0.3f)}}},
      {"Gelu", {any}, {.attrs = {attr("approximate", "tanh")}}},
      {"HardSigmoid", {any}, {.attrs = {attr("alpha", 0.4f), attr("beta", 0.3f)}}},
      {"HardSwish", {real({40}, -5, 5)}},
      {"LeakyRelu", {any}, {.attrs = {attr("alpha", 0.2f)}}},
      {"Log", {some}},
      {"Reciprocal", {some}},
      {"Selu", {any}, {.attrs = {attr("alpha", 1.5f), attr("gamma", 1.2f)}}},
      {"Softplus", {real({9}, -30, 30)}},
      {"Sqrt", {some}},
      {"Swish", {any}, {.attrs = {attr("alpha", 1.3f)}, .opset = 24}},
      {"Tan", {small}},
      {"ThresholdedRelu", {any}, {.attrs = {attr("alpha", 0.3f)}}},
      {"Gelu", {any}, {.domain = "com.microsoft"}},
      {"QuickGelu", {any}, {.attrs = {attr("alpha", 1.3f)}, .domain = "com.microsoft"}},
      {"QuickGelu", {any}, {.domain = "com.microsoft"}},
      {"Bernoulli", {real({9}, 0.1, 0.9)}},
      {"RandomNormalLike", {any}},
      {"RandomUniformLike", {any}},
  };
  for (const char* op :
       {"Abs",  "Asinh",    "Atan",     "Ceil",  "Celu",           "Clip",        "Cos",      "Cosh",
        "Elu",  "Erf",      "Exp",      "Floor", "Gelu",           "HardSigmoid", "Identity", "LeakyRelu",
        "Mish", "Neg",      "Relu",     "Round", "Selu",           "Sigmoid",     "Sign",     "Sin",
        "Sinh", "Softplus", "Softsign", "Tanh",  "ThresholdedRelu"})
    rows.push_back({op, {any}});
  return rows;
}

TEST_CASE("gradients of elementwise operators") { check_gradients(unary_cases()); }

}  // namespace mlopt::test
