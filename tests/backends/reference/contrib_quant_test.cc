#include <algorithm>
#include <cmath>
#include <functional>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kU8 = DType::kU8;

OpOptions contrib(std::vector<Attr> attrs = {}) { return {std::move(attrs), 1, "com.microsoft"}; }
Tensor scale(double value) { return tensor({}, {value}); }
Tensor zero(double value) { return tensor({}, {value}, kU8); }

/// All codes of a quarter of the range, as [8, 8].
Tensor codes() {
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back(4 * i);
  return tensor({8, 8}, values, kU8);
}

/// The codes of formula(real value of x) with the scale and zero point of the output.
Tensor expected(const Tensor& x, const std::function<double(double)>& formula, double out_scale, double out_zero) {
  std::vector<double> values = to_doubles(x);
  for (double& v : values)
    v = std::clamp(std::nearbyint(formula((v - 100) * 0.0625) / out_scale) + out_zero, 0.0, 255.0);
  return tensor(x.dims(), values, kU8);
}

/// At most one step apart: a value halfway between two codes may fall to either side.
void require_near(const Tensor& actual, const Tensor& wanted) {
  REQUIRE(actual.dtype() == wanted.dtype());
  require_close(cast(actual, DType::kF32), cast(wanted, DType::kF32), 0.01);
}

TEST_CASE("quantized Sigmoid and LeakyRelu", "[reference]") {
  const Tensor x = codes();
  const std::vector<Datum> inputs{x, scale(0.0625), zero(100), scale(1 / 256.0), zero(3)};
  require_near(run_op("QLinearSigmoid", inputs, contrib()),
               expected(
                   x, [](double v) { return 1 / (1 + std::exp(-v)); }, 1 / 256.0, 3));
  const std::vector<Datum> wide{x, scale(0.0625), zero(100), scale(0.03), zero(60)};
  require_near(run_op("QLinearLeakyRelu", wide, contrib({attr("alpha", 0.25f)})),
               expected(
                   x, [](double v) { return v < 0 ? v / 4 : v; }, 0.03, 60));
}

TEST_CASE("quantized Add, Mul, Where and Concat", "[reference]") {
  const Tensor a = tensor({2}, {10, 20}, kU8), b = tensor({2, 1}, {4, 8}, kU8);
  // a is worth 0 and 5, b is worth 1 and 3; results in steps of 0.5 from code 7.
  const Tensor half = scale(0.5), ten = zero(10);
  const std::vector<Datum> both{a, half, ten, b, half, zero(2), half, zero(7)};
  check_cases({
      {"QLinearAdd", both, contrib(), {tensor({2, 2}, {9, 19, 13, 23}, kU8)}},
      {"QLinearMul", both, contrib(), {tensor({2, 2}, {7, 17, 7, 37}, kU8)}},
      {"QLinearWhere",
       {tensor({2}, {1, 0}, DType::kBool), a, half, ten, b, half, zero(2), half, zero(7)},
       contrib(),
       {tensor({2, 2}, {7, 9, 7, 13}, kU8)}},
      {"QLinearConcat",
       {half, zero(7), a, half, ten, tensor({1}, {8}, kU8), half, zero(2)},
       contrib({attr("axis", 0)}),
       {tensor({3}, {7, 17, 13}, kU8)}},
  });
  check_errors({{"QLinearConcat", {half, zero(7), a, half}, contrib({attr("axis", 0)}), "scale and a zero point"},
                {"QLinearAdd", {a, tensor({2}, {1, 1}), ten, b, half, zero(2), half, zero(7)}, contrib(), "scale"}});
}

TEST_CASE("quantized pools, means and softmax", "[reference]") {
  const Tensor x = tensor({1, 1, 2, 2}, {100, 104, 108, 116}, kU8);  // worth 0, 1, 2, 4 in steps of 0.25
  const std::vector<Datum> inputs{x, scale(0.25), zero(100), scale(0.25), zero(0)};
  const std::vector<int64_t> kernel{1, 2}, axes{2, 3};
  check_cases({
      {"QLinearGlobalAveragePool", inputs, contrib(), {tensor({1, 1, 1, 1}, {7}, kU8)}},
      {"QLinearAveragePool", inputs, contrib({attr("kernel_shape", kernel)}), {tensor({1, 1, 2, 1}, {2, 12}, kU8)}},
      {"QLinearReduceMean", inputs, contrib({attr("axes", axes), attr("keepdims", 0)}), {tensor({1, 1}, {7}, kU8)}},
  });
  const std::vector<Datum> flat{tensor({2, 2}, {0, 0, 0, 0}, kU8), scale(1), zero(0), scale(1 / 256.0), zero(0)};
  check_cases({
      {"QLinearSoftmax",
       flat,
       contrib({attr("opset", 13), attr("axis", -1)}),
       {tensor({2, 2}, {128, 128, 128, 128}, kU8)}},
      {"QLinearSoftmax", flat, contrib({attr("opset", 11), attr("axis", 0)}), {tensor({2, 2}, {64, 64, 64, 64}, kU8)}},
  });
}

TEST_CASE("a layout that is not supported is named before the run", "[reference]") {
  const Tensor x = tensor({1, 1, 1, 1}, {1}, kU8);
  const std::string error = error_of("QLinearGlobalAveragePool", {x, scale(1), zero(0), scale(1), zero(0)},
                                     contrib({attr("channels_last", 1)}));
  REQUIRE(error.find("QLinearGlobalAveragePool") != std::string::npos);
}

}  // namespace
}  // namespace mlopt::test
