#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kU8 = DType::kU8, kI8 = DType::kI8, kI32 = DType::kI32;

OpOptions contrib(std::vector<Attr> attrs = {}) { return {std::move(attrs), 1, "com.microsoft"}; }

// A - 10 is [[1, -2], [3, 4]], B is [[5, 6], [7, -8]]; their product is [[-9, 22], [43, -14]].
const Tensor kA = tensor({2, 2}, {11, 8, 13, 14}, kU8), kB = tensor({2, 2}, {5, 6, 7, -8}, kI8);
const Tensor kAZero = tensor({}, {10}, kU8);

TEST_CASE("MatMulIntegerToFloat scales columns and adds a bias", "[reference]") {
  const Tensor half = tensor({}, {0.5}), columns = tensor({2}, {2, 4}), bias = tensor({2}, {100, 200});
  check_cases({
      {"MatMulIntegerToFloat",
       {kA, kB, half, columns, kAZero, Datum(), bias},
       contrib(),
       {tensor({2, 2}, {91, 244, 143, 172})}},
      {"MatMulIntegerToFloat", {kA, kB, half, half, kAZero}, contrib(), {tensor({2, 2}, {-2.25, 5.5, 10.75, -3.5})}},
      {"MatMulIntegerToFloat",
       {kA, kB, half, half, kAZero, tensor({2}, {5, -8}, kI8)},
       contrib(),
       {tensor({2, 2}, {-1, 3.5, 2, 10.5})}},
  });
  check_errors({{"MatMulIntegerToFloat", {kA, kB, half, tensor({3}, {1, 1, 1}), kAZero}, contrib(), "broadcast"}});
}

TEST_CASE("DynamicQuantizeMatMul quantizes A by its own range", "[reference]") {
  // The range [0, 255] gives scale 1 and zero point 0, so that whole numbers are exact.
  const Tensor a = tensor({1, 2}, {0, 255});
  check_cases({{"DynamicQuantizeMatMul",
                {a, kB, tensor({}, {0.5}), Datum(), tensor({2}, {1, 2})},
                contrib(),
                {tensor({1, 2}, {255 * 3.5 + 1, 255 * -4.0 + 2})}}});
}

TEST_CASE("MatMulInteger16 multiplies wide integers", "[reference]") {
  check_cases({{"MatMulInteger16",
                {tensor({1, 2}, {30000, -3}, DType::kI16), tensor({2, 1}, {300, 1000}, DType::kI16)},
                contrib(),
                {tensor({1, 1}, {8997000}, kI32)}}});
}

TEST_CASE("QGemm gives codes or floats", "[reference]") {
  const Tensor half = tensor({}, {0.5}), b_zero = tensor({}, {0}, kI8), bias = tensor({2}, {1, -2}, kI32);
  const Tensor a_turned = tensor({2, 2}, {11, 13, 8, 14}, kU8), b_turned = tensor({2, 2}, {5, 7, 6, -8}, kI8);
  const Tensor floats = tensor({2, 2}, {-4, 10, 22, -8});  // (product + bias) / 2 with scales 0.5 and 1
  const Tensor one = tensor({}, {1}), y_zero = tensor({}, {100}, kU8);
  check_cases({
      {"QGemm", {kA, half, kAZero, kB, one, b_zero, bias}, contrib(), {floats}},
      {"QGemm",
       {a_turned, half, kAZero, b_turned, one, b_zero, bias},
       contrib({attr("transA", 1), attr("transB", 1)}),
       {floats}},
      {"QGemm",
       {kA, half, kAZero, kB, one, b_zero, bias},
       contrib({attr("alpha", 2.0f)}),
       {tensor({2, 2}, {-8, 20, 44, -16})}},
      {"QGemm",
       {kA, half, kAZero, kB, tensor({2}, {1, 2}), tensor({2}, {0, 0}, kI8), bias, tensor({}, {2}), y_zero},
       contrib(),
       {tensor({2, 2}, {98, 110, 111, 92}, kU8)}},
  });
  check_errors({{"QGemm", {kA, half, kAZero, kB, one, b_zero, tensor({3}, {1, 2, 3}, kI32)}, contrib(), "broadcast"}});
}

}  // namespace
}  // namespace mlopt::test
