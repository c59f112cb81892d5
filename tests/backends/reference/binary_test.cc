#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

struct Arithmetic {
  const char* op;
  double (*formula)(double, double);
};

const Arithmetic kArithmetic[] = {
    {"Add", [](double a, double b) { return a + b; }},
    {"Div", [](double a, double b) { return a / b; }},
    {"Max", [](double a, double b) { return a > b ? a : b; }},
    {"Mean", [](double a, double b) { return (a + b) / 2; }},
    {"Min", [](double a, double b) { return a < b ? a : b; }},
    {"Mul", [](double a, double b) { return a * b; }},
    {"Pow", [](double a, double b) { return std::exp(b * std::log(a)); }},
    {"Sub", [](double a, double b) { return a - b; }},
    {"Sum", [](double a, double b) { return b + a; }},
};

TEST_CASE("arithmetic broadcasts in every float type", "[reference]") {
  const auto [type, tolerance] = GENERATE(
      table<DType, double>({{DType::kF64, 1e-14}, {DType::kF32, 3e-7}, {DType::kF16, 1e-3}, {DType::kBF16, 8e-3}}));
  const Tensor a = uniform({2, 1, 4}, 0.5, 3, type, 1), b = uniform({3, 1}, 0.5, 3, type, 2);
  for (const Arithmetic& row : kArithmetic) {
    std::vector<double> expected;
    for (int64_t i = 0; i < 24; ++i)
      expected.push_back(row.formula(number_at(a, i / 12 * 4 + i % 4), number_at(b, i / 4 % 3)));
    INFO(row.op << " in " << name(type));
    const Tensor y = run_op(row.op, {a, b});
    REQUIRE(y.dtype() == type);
    require_close(cast(y, DType::kF64), tensor({2, 3, 4}, expected, DType::kF64), tolerance);
  }
}

Tensor i32(const std::vector<double>& values) {
  return tensor({static_cast<int64_t>(values.size())}, values, DType::kI32);
}
Tensor i8(const std::vector<double>& values) {
  return tensor({static_cast<int64_t>(values.size())}, values, DType::kI8);
}

TEST_CASE("integers wrap and divide towards zero", "[reference]") {
  const Tensor lowest = Tensor::scalar<int64_t>(INT64_MIN), minus_one = Tensor::scalar<int64_t>(-1);
  check_cases({
      {"Add", {i8({127, 1}), i8({1, 1})}, {}, {i8({-128, 2})}},
      {"Sub", {tensor({1}, {1}, DType::kU8), tensor({1}, {2}, DType::kU8)}, {}, {tensor({1}, {255}, DType::kU8)}},
      {"Mul", {i8({100}), i8({3})}, {}, {i8({44})}},
      {"Div", {i32({7, -7, 7, -7}), i32({2, 2, -2, -2})}, {}, {i32({3, -3, -3, 3})}},
      {"Div", {lowest, minus_one}, {}, {lowest}},
      {"Mod", {i32({7, -7, 7, -7}), i32({3, 3, -3, -3})}, {}, {i32({1, 2, -2, -1})}},
      {"Mod", {i32({7, -7, 7, -7}), i32({3, 3, -3, -3})}, {{attr("fmod", 1)}}, {i32({1, -1, 1, -1})}},
      {"Mod", {lowest, minus_one}, {}, {Tensor::scalar<int64_t>(0)}},
      {"Max", {i32({1, 5}), i32({4, 2}), i32({3, 3})}, {}, {i32({4, 5})}},
      {"Mean", {i32({1}), i32({4})}, {}, {i32({2})}},
  });
  const uint64_t most = UINT64_MAX;
  check_cases({{"Div", {Tensor::scalar(most), Tensor::scalar<uint64_t>(2)}, {}, {Tensor::scalar(most / 2)}}});
  check_errors({
      {"Div", {i32({1}), i32({0})}, {}, "division by zero"},
      {"Mod", {i32({1, 2}), i32({1, 0})}, {}, "division by zero"},
  });
}

TEST_CASE("Mod of floats treats signs, zeros and infinities as the standard says", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor a = tensor({8}, {5.5, -5.5, 5.5, inf, 1, 2, -2, 3}), b = tensor({8}, {2, 2, -2, 2, 0, inf, inf, nan});
  check_cases({
      {"Mod", {a, b}, {}, {tensor({8}, {1.5, 0.5, -0.5, nan, nan, 2, inf, nan})}},
      {"Mod", {a, b}, {{attr("fmod", 1)}}, {tensor({8}, {1.5, -1.5, 1.5, nan, nan, 2, -2, nan})}},
  });
}

TEST_CASE("Pow mixes types and gives that of the base", "[reference]") {
  check_cases({
      {"Pow", {i32({2, -3, 5, 1}), i32({10, 3, 0, -1})}, {}, {i32({1024, -27, 1, 1})}},
      {"Pow", {i32({4, 9}), tensor({2}, {0.5, 1.5})}, {}, {i32({2, 27})}},
      {"Pow", {tensor({2}, {4, 0.5}), Tensor::ints({2, -1})}, {}, {tensor({2}, {16, 2})}},
      {"Pow", {tensor({1}, {1e300}, DType::kF64), tensor({1}, {0.5})}, {}, {tensor({1}, {1e150}, DType::kF64)}, 1e140},
  });
}

TEST_CASE("Max and Min pass NaN on", "[reference]") {
  const double nan = std::nan("");
  check_cases({
      {"Max", {tensor({3}, {nan, 1, 2}), tensor({3}, {1, nan, 1})}, {}, {tensor({3}, {nan, nan, 2})}},
      {"Min", {tensor({3}, {nan, 1, 2}), tensor({3}, {1, nan, 1})}, {}, {tensor({3}, {nan, nan, 1})}},
  });
}

TEST_CASE("BitShift drops what is shifted out", "[reference]") {
  const OpOptions left{{attr("direction", "LEFT")}, 28}, right{{attr("direction", "RIGHT")}, 28};
  check_cases({
      {"BitShift",
       {tensor({3}, {16, 255, 1}, DType::kU8), tensor({3}, {1, 4, 8}, DType::kU8)},
       left,
       {tensor({3}, {32, 240, 0}, DType::kU8)}},
      {"BitShift",
       {tensor({3}, {16, 255, 1}, DType::kU8), tensor({3}, {1, 4, 8}, DType::kU8)},
       right,
       {tensor({3}, {8, 15, 0}, DType::kU8)}},
      {"BitShift", {i8({-8, -8, 8, -1}), i8({1, 100, -1, -3})}, right, {i8({-4, -1, 0, -1})}},
      {"BitShift", {i8({64, -1, 1}), i8({1, 7, -1})}, left, {i8({-128, -128, 0})}},
  });
  check_errors({{"BitShift", {i8({1}), i8({1})}, {{attr("direction", "UP")}}, "direction"}});
}

TEST_CASE("old opsets place the second operand at an axis", "[reference]") {
  const Tensor a = counting({2, 3, 2});
  check_cases({
      {"Add",
       {a, tensor({3}, {10, 20, 30})},
       {{attr("axis", 1), attr("broadcast", 1)}, 6},
       {tensor({2, 3, 2}, {10, 11, 22, 23, 34, 35, 16, 17, 28, 29, 40, 41})}},
      {"Mul",
       {a, tensor({2}, {1, 10})},
       {{attr("axis", 0), attr("broadcast", 1)}, 6},
       {tensor({2, 3, 2}, {0, 1, 2, 3, 4, 5, 60, 70, 80, 90, 100, 110})}},
      {"Add",
       {a, tensor({2}, {100, 200})},
       {{attr("broadcast", 1)}, 6},
       {tensor({2, 3, 2}, {100, 201, 102, 203, 104, 205, 106, 207, 108, 209, 110, 211})}},
  });
}

TEST_CASE("arithmetic refuses what does not fit and takes what is empty", "[reference]") {
  check_cases({{"Add", {tensor({0, 3}, {}), tensor({3}, {1, 2, 3})}, {}, {tensor({0, 3}, {})}}});
  check_errors({
      {"Add", {counting({2, 3}), counting({4})}, {}, "do not broadcast"},
      {"Add", {counting({2}), counting({2}, DType::kF64)}, {}, "different types"},
      {"Sum", {counting({2}), counting({2}, DType::kI32)}, {}, "one type"},
      {"Add", {Tensor::of_strings({1}, {"a"}), Tensor::of_strings({1}, {"b"})}, {}, "does not take string"},
  });
}

}  // namespace
}  // namespace mlopt::test
