#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kF64 = DType::kF64;

Tensor one(double value) { return tensor({1}, {value}, kF64); }

OpOptions with(std::vector<Attr> attrs, int outputs) {
  return {std::move(attrs), 1, "ai.onnx.preview.training", outputs};
}

TEST_CASE("Adam, Adagrad and Momentum make one step", "[reference]") {
  const Tensor rate = tensor({}, {0.1}, kF64), third = Tensor::scalar<int64_t>(3);
  // Value 2, gradient 0.5 and an L2 coefficient of 0.25: a regularized gradient of 1.
  const Attr norm = attr("norm_coefficient", 0.25f), alpha = attr("alpha", 0.5f), beta = attr("beta", 0.75f);
  const double mean = 0.5 * 0.3 + 0.5, squares = 0.75 * 0.4 + 0.25;
  const double adjusted = 0.1 * std::sqrt(1 - 0.421875) / (1 - 0.125);
  check_cases({
      {"Adam",
       {rate, third, one(2), one(0.5), one(0.3), one(0.4)},
       with({norm, alpha, beta, attr("epsilon", 0.5f), attr("norm_coefficient_post", 0.5f)}, 3),
       {one(0.5 * (2 - adjusted * mean / (std::sqrt(squares) + 0.5))), one(mean), one(squares)},
       1e-12},
      {"Adagrad",
       {rate, third, one(2), one(0.5), one(3)},
       with({norm, attr("decay_factor", 0.5f), attr("epsilon", 0.5f)}, 2),
       {one(2 - 0.1 / 2.5 / (2 + 0.5)), one(4)},
       1e-12},
      {"Momentum",
       {rate, third, one(2), one(0.5), one(3)},
       with({norm, alpha, beta, attr("mode", "standard")}, 2),
       {one(2 - 0.1 * 2.25), one(2.25)},
       1e-12},
      {"Momentum",
       {rate, third, one(2), one(0.5), one(3)},
       with({norm, alpha, beta, attr("mode", "nesterov")}, 2),
       {one(2 - 0.1 * (1 + 0.5 * 2.25)), one(2.25)},
       1e-12},
      {"Momentum",
       {rate, Tensor::scalar<int64_t>(0), one(2), one(0.5), one(3)},
       with({norm, alpha, beta, attr("mode", "standard")}, 2),
       {one(2 - 0.1 * 2.5), one(2.5)},
       1e-12},
  });
}

TEST_CASE("several tensors are updated at once", "[reference]") {
  const Tensor rate = tensor({}, {1}, kF64), count = Tensor::scalar<int64_t>(1);
  const std::vector<Datum> inputs{rate, count, one(1), one(10), one(2), one(20), one(3), one(30)};
  const OpOptions options =
      with({attr("norm_coefficient", 0.0f), attr("alpha", 1.0f), attr("beta", 1.0f), attr("mode", "standard")}, 4);
  check_cases({{"Momentum", inputs, options, {one(-4), one(-40), one(5), one(50)}}});
  check_errors({{"Momentum", {rate, count, one(1), one(2)}, options, "lists"},
                {"Momentum", {rate, count, one(1), one(2), tensor({2}, {1, 2}, kF64)}, options, "one shape"}});
}

}  // namespace
}  // namespace mlopt::test
