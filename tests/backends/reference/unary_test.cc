#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;
using namespace mlopt::test;

namespace {

struct Formula {
  const char* op;
  double (*formula)(double);
  double low, high;  ///< inputs
};

const Formula kFunctions[] = {
    {"Abs", [](double x) { return x < 0 ? -x : x; }, -3, 3},
    {"Acos", std::acos, -1, 1},
    {"Acosh", std::acosh, 1, 9},
    {"Asin", std::asin, -1, 1},
    {"Asinh", std::asinh, -9, 9},
    {"Atan", std::atan, -9, 9},
    {"Atanh", std::atanh, -0.9, 0.9},
    {"Ceil", std::ceil, -9, 9},
    {"Cos", std::cos, -9, 9},
    {"Cosh", std::cosh, -3, 3},
    {"Erf", std::erf, -3, 3},
    {"Exp", std::exp, -5, 3},
    {"Floor", std::floor, -9, 9},
    {"Log", std::log, 0.01, 9},
    {"Neg", [](double x) { return 0 - x; }, -3, 3},
    {"Reciprocal", [](double x) { return std::pow(x, -1); }, 0.2, 9},
    {"Round", std::nearbyint, -9, 9},
    {"Sign", [](double x) { return x < 0 ? -1.0 : 1.0; }, -3, 3},
    {"Sin", std::sin, -9, 9},
    {"Sinh", std::sinh, -3, 3},
    {"Sqrt", std::sqrt, 0, 9},
    {"Tan", std::tan, -1.2, 1.2},
};

/// Half a unit in the last place of the type and a little for the function itself.
double tolerance(DType type) {
  switch (type) {
    case DType::kF64:
      return 1e-14;
    case DType::kF32:
      return 3e-7;
    case DType::kF16:
      return 1e-3;
    default:
      return 8e-3;
  }
}

}  // namespace

TEST_CASE("unary functions follow their formula in every float type", "[reference]") {
  const DType type = GENERATE(DType::kF64, DType::kF32, DType::kF16, DType::kBF16);
  for (const Formula& function : kFunctions) {
    const Tensor x = uniform({3, 7}, function.low, function.high, type);
    std::vector<double> expected = to_doubles(x);
    for (double& value : expected) value = function.formula(value);
    INFO(function.op << " in " << name(type));
    const Tensor y = run_op(function.op, {x});
    REQUIRE(y.dtype() == type);
    require_close(cast(y, DType::kF64), tensor({3, 7}, expected, DType::kF64), tolerance(type));
  }
}

TEST_CASE("Abs, Neg and Sign of integers wrap and stay whole", "[reference]") {
  require_close(run_op("Abs", {tensor({3}, {-128, -5, 7}, DType::kI8)}), tensor({3}, {-128, 5, 7}, DType::kI8));
  require_close(run_op("Neg", {tensor({3}, {-5, 0, 7}, DType::kI32)}), tensor({3}, {5, 0, -7}, DType::kI32));
  require_close(run_op("Sign", {tensor({3}, {-5, 0, 7}, DType::kI64)}), tensor({3}, {-1, 0, 1}, DType::kI64));
  require_close(run_op("Sign", {tensor({2}, {0, 200}, DType::kU8)}), tensor({2}, {0, 1}, DType::kU8));
  const Tensor lowest = Tensor::scalar<int64_t>(INT64_MIN);
  require_close(run_op("Neg", {lowest}), lowest);
}

TEST_CASE("Round sends halves to the even neighbour and keeps what is not finite", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x = tensor({9}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, inf, -inf, nan});
  require_close(run_op("Round", {x}), tensor({9}, {-2, -2, 0, 0, 2, 2, inf, -inf, nan}));
}

TEST_CASE("IsNaN and IsInf tell the kinds apart", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity();
  const DType type = GENERATE(DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kF8E5M2);
  const Tensor x = cast(tensor({4}, {inf, -inf, std::nan(""), 1}), type, /*saturate=*/false);
  require_close(run_op("IsNaN", {x}), tensor({4}, {0, 0, 1, 0}, DType::kBool));
  require_close(run_op("IsInf", {x}), tensor({4}, {1, 1, 0, 0}, DType::kBool));
  require_close(run_op("IsInf", {x}, {.attrs = {{"detect_negative", 0, ""}}}), tensor({4}, {1, 0, 0, 0}, DType::kBool));
  require_close(run_op("IsInf", {x}, {.attrs = {{"detect_positive", 0, ""}}}), tensor({4}, {0, 1, 0, 0}, DType::kBool));
}

TEST_CASE("Not and BitwiseNot invert", "[reference]") {
  require_close(run_op("Not", {tensor({2}, {0, 1}, DType::kBool)}), tensor({2}, {1, 0}, DType::kBool));
  require_close(run_op("BitwiseNot", {tensor({2}, {0, 5}, DType::kU8)}), tensor({2}, {255, 250}, DType::kU8));
  require_close(run_op("BitwiseNot", {tensor({2}, {0, 5}, DType::kI32)}), tensor({2}, {-1, -6}, DType::kI32));
}

TEST_CASE("unary operators take tensors without elements and refuse wrong types", "[reference]") {
  require_close(run_op("Exp", {Tensor(DType::kF32, {0, 3})}), Tensor(DType::kF32, {0, 3}));
  REQUIRE(error_of("Exp", {tensor({1}, {1}, DType::kI32)}).find("Exp does not take int32: Exp 'tested'") !=
          std::string::npos);
  REQUIRE(error_of("Not", {tensor({1}, {1})}).find("Not does not take float32") != std::string::npos);
}
