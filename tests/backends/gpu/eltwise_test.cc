#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("functions of one number on a GPU") {
  const Tensor x = uniform({3, 5, 37}, -4, 4), positive = uniform({300}, 0.1, 0.9),
               ends = tensor({5}, {INFINITY, -INFINITY, NAN, 0, 100});
  for (const char* op : {"Abs",         "Ceil",      "Clip",      "Elu",      "Erf",  "Exp",  "Floor",
                         "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",     "Neg",  "Relu", "Round",
                         "Selu",        "Sigmoid",   "Softplus",  "Softsign", "Tanh", "Gelu", "ThresholdedRelu",
                         "Sin",         "Cos",       "Atan",      "Asinh",    "Sign", "Sinh", "Cosh"}) {
    INFO(op);
    require_on_gpu(op, {x});
    if (std::string_view(op) != "Softsign" && std::string_view(op) != "HardSwish") require_on_gpu(op, {ends});
  }
  for (const char* op : {"Log", "Sqrt", "Reciprocal", "Tan", "Asin", "Acos", "Atanh"}) require_on_gpu(op, {positive});
  require_on_gpu("Acosh", {uniform({9}, 1, 5)});
  require_on_gpu("Gelu", {x}, {.attrs = {attr("approximate", "tanh")}});
  require_on_gpu("LeakyRelu", {x}, {.attrs = {attr("alpha", 0.3f)}});
  require_on_gpu("QuickGelu", {x}, {.domain = "com.microsoft"});
  require_on_gpu("Clip", {x, tensor({}, {-1}), tensor({}, {2})}, {.fixed = true});
}

TEST_CASE("halves are computed in float32 on a GPU") {
  for (const DType half : {DType::kF16, DType::kBF16})
    for (const char* op : {"Exp", "Sigmoid", "Relu", "Tanh", "Cos"})
      require_on_gpu(op, {uniform({200}, -4, 4, half)}, {}, 1e-2);
}

}  // namespace mlopt::test
