#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

/// Ordinary numbers and everything that a shortcut gets wrong.
Tensor difficult() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> values{std::nan(""), kInfinity, -kInfinity, 0.0,   -0.0, 1e30, -1e30, 100, -100, 88.7, -88.7,
                             -104,         1e-30,     -1e-30,     1e-41, 0.5,  -0.5, 1.5,   2.5, -1.5, 3,    -3};
  for (int i = 0; i < 1000; ++i) values.push_back(i * 0.02 - 10);
  const auto count = static_cast<int64_t>(values.size());
  return tensor({count}, values);
}

/// Positive ones, for functions that give NaN below 0.
Tensor positive() {
  std::vector<double> values{0.0, 1e-40, 1e-30, 1e30, std::numeric_limits<double>::infinity(), std::nan("")};
  for (int i = 1; i < 1000; ++i) values.push_back(i * 0.013);
  const auto count = static_cast<int64_t>(values.size());
  return tensor({count}, values);
}

// A few units in the last place of values near 1.
constexpr double kTolerance = 1e-6;

}  // namespace

TEST_CASE("elementwise functions give what the reference gives, also for NaN and infinities") {
  for (const char* op :
       {"Abs",         "Ceil",      "Elu",       "Erf",      "Exp",      "Floor",      "Gelu",
        "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",     "Neg",      "Reciprocal", "Relu",
        "Round",       "Selu",      "Sigmoid",   "Softplus", "Softsign", "Tanh",       "ThresholdedRelu"}) {
    INFO(op);
    require_as_reference(op, {difficult()}, {}, kTolerance);
  }
  for (const char* op : {"Log", "Sqrt"}) require_as_reference(op, {positive()}, {}, kTolerance);
  require_as_reference("Log", {difficult()}, {}, kTolerance);
}

TEST_CASE("elementwise functions take their attributes") {
  require_as_reference("Elu", {difficult()}, {.attrs = {{"alpha", 0.7f, ""}}}, kTolerance);
  require_as_reference("LeakyRelu", {difficult()}, {.attrs = {{"alpha", -0.3f, ""}}}, kTolerance);
  require_as_reference("Selu", {difficult()}, {.attrs = {{"alpha", 1.1f, ""}, {"gamma", 2.0f, ""}}}, kTolerance);
  require_as_reference("HardSigmoid", {difficult()}, {.attrs = {{"alpha", 0.5f, ""}, {"beta", 0.6f, ""}}}, kTolerance);
  require_as_reference("ThresholdedRelu", {difficult()}, {.attrs = {{"alpha", 2.0f, ""}}}, kTolerance);
  require_as_reference("Gelu", {difficult()}, {.attrs = {{"approximate", std::string("tanh"), ""}}}, kTolerance);
}

TEST_CASE("Clip's limits are attributes or constants; Pow's exponent is 2 or 3") {
  const std::vector<Attr> limits{{"min", -1.5f, ""}, {"max", 2.0f, ""}};
  require_as_reference("Clip", {difficult()}, {.attrs = limits, .opset = 6}, 0);
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto same = [&](const std::string& op, const std::vector<Datum>& inputs) {
    const Tensor expected = run_op(op, inputs, {.fixed = true});
    require_close(run_op(op, inputs, {.fixed = true, .backend = cpu.get()}), expected, kTolerance);
    require_close(run_op(op, inputs, {.backend = cpu.get()}), expected, kTolerance);
  };
  same("Clip", {difficult(), tensor({}, {-1})});
  same("Clip", {difficult(), Datum(), tensor({}, {3})});
  for (const double e : {2.0, 3.0, 0.5, -1.0}) same("Pow", {positive(), tensor({}, {e})});
}

TEST_CASE("elementwise functions spread over threads and take odd counts") {
  for (const int64_t n : {1, 7, 17, 100003}) require_as_reference("Sigmoid", {uniform({n}, -9, 9)}, {}, kTolerance);
}

}  // namespace mlopt::test
