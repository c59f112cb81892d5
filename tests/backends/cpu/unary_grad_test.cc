#include <cmath>
#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

constexpr const char* kOps[] = {"Relu", "Sigmoid",  "Tanh",        "Abs",       "Clip",      "Elu",      "Erf",
                                "Gelu", "GeluTanh", "HardSigmoid", "HardSwish", "LeakyRelu", "Softplus", "Swish"};

OpOptions options(const char* op) {
  return {.attrs = {attr("of", op), attr("alpha", 0.2f), attr("beta", 0.5f)}, .domain = "mlopt"};
}

}  // namespace

TEST_CASE("gradients of elementwise functions give what the reference gives") {
  for (const char* op : kOps)
    for (const Dims& dims : {Dims{1}, Dims{7, 3}, Dims{2, 3, 5, 7}, Dims{40000}}) {
      INFO(op << " of " << to_string(dims));
      require_as_reference("UnaryGrad", {uniform(dims, -6, 6), uniform(dims, -2, 2, DType::kF32, 2)}, options(op),
                           5e-6);  // of GeluTanh: x^3 times what is left of 1 - tanh^2
    }
}

TEST_CASE("gradients at NaN, infinities and kinks") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor dy = tensor({9}, {1, 1, 1, 1, 1, 1, 1, NAN, 2});
  for (const char* op : {"Relu", "Abs", "Clip", "LeakyRelu", "HardSwish", "HardSigmoid"})
    require_as_reference("UnaryGrad", {tensor({9}, {0, -0.0, inf, -inf, 0.2, 0.5, -3, 1, 3}), dy}, options(op));
}

}  // namespace mlopt::test
