#include <cmath>
#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kU8 = DType::kU8, kI8 = DType::kI8;

OpOptions typed(DType type, int opset = 25) { return {{attr("output_dtype", static_cast<int>(type))}, opset}; }

TEST_CASE("QuantizeLinear rounds halves to even and saturates, NaN to the lowest", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = tensor({8}, {-1, 1, 3, 5, 1e9, -1e9, inf, std::nan("")});
  check_cases({
      {"QuantizeLinear",
       {x, tensor({}, {2}), tensor({}, {10}, kU8)},
       {},
       {tensor({8}, {10, 10, 12, 12, 255, 0, 255, 0}, kU8)}},
      {"QuantizeLinear",
       {x, tensor({}, {2}), tensor({}, {-3}, kI8)},
       {},
       {tensor({8}, {-3, -3, -1, -1, 127, -128, 127, -128}, kI8)}},
      {"QuantizeLinear", {x, tensor({}, {2})}, {}, {tensor({8}, {0, 0, 2, 2, 255, 0, 255, 0}, kU8)}},
      {"QuantizeLinear",
       {x, tensor({}, {2})},
       typed(DType::kI16),
       {tensor({8}, {0, 0, 2, 2, 32767, -32768, 32767, -32768}, DType::kI16)}},
      {"QuantizeLinear",
       {x, tensor({}, {2})},
       typed(DType::kI4),
       {tensor({8}, {0, 0, 2, 2, 7, -8, 7, -8}, DType::kI4)}},
      {"QuantizeLinear", {x, tensor({}, {2})}, typed(DType::kU2), {tensor({8}, {0, 0, 2, 2, 3, 0, 3, 0}, DType::kU2)}},
      {"QuantizeLinear", {tensor({1}, {3}, DType::kF64), tensor({}, {2}, DType::kF64)}, {}, {tensor({1}, {2}, kU8)}},
  });
}

TEST_CASE("scales for each index of an axis and for each block", "[reference]") {
  const Tensor x = tensor({2, 4}, {2, 4, 6, 8, 10, 20, 30, 40});
  const Tensor by_row = tensor({2}, {2, 10}), zeros = tensor({2}, {0, 100}, kU8);
  const Tensor codes = tensor({2, 4}, {1, 2, 3, 4, 101, 102, 103, 104}, kU8);
  const Tensor blocks = tensor({2, 2}, {2, 4, 5, 10});
  const Tensor block_codes = tensor({2, 4}, {1, 2, 2, 2, 2, 4, 3, 4}, kI8);
  const OpOptions rows{{attr("axis", 0)}}, three{{attr("axis", 1), attr("block_size", 3), attr("output_dtype", 3)}};
  const OpOptions back{{attr("axis", -1), attr("block_size", 3)}};
  const Tensor column_blocks = tensor({1, 4}, {1, 2, 3, 4});
  check_cases({
      {"QuantizeLinear", {x, by_row, zeros}, rows, {codes}},
      {"DequantizeLinear", {codes, by_row, zeros}, rows, {x}},
      {"QuantizeLinear", {x, blocks}, three, {tensor({2, 4}, {1, 2, 3, 2, 2, 4, 6, 4}, kI8)}},
      {"DequantizeLinear", {block_codes, blocks}, back, {tensor({2, 4}, {2, 4, 4, 8, 10, 20, 15, 40})}},
      {"DequantizeLinear",
       {block_codes, column_blocks},
       {{attr("axis", 0), attr("block_size", 2)}},
       {tensor({2, 4}, {1, 4, 6, 8, 2, 8, 9, 16})}},
      {"DequantizeLinear", {codes, tensor({4}, {1, 2, 3, 4})}, {}, {tensor({2, 4}, {1, 4, 9, 16, 101, 204, 309, 416})}},
  });
  check_errors({
      {"QuantizeLinear", {x, tensor({3}, {1, 2, 3})}, {}, "scales of shape 3"},
      {"QuantizeLinear", {x, by_row, tensor({}, {0}, kU8)}, rows, "zero points"},
      {"DequantizeLinear", {block_codes, blocks}, {{attr("axis", 1), attr("block_size", 4)}}, "scales of shape"},
      {"QuantizeLinear", {x, tensor({}, {1}), tensor({}, {0}, kU8)}, typed(kI8), "output_dtype"},
      {"DequantizeLinear", {codes, tensor({}, {1}), tensor({}, {0}, kI8)}, {}, "zero point"},
  });
}

TEST_CASE("DequantizeLinear of every width", "[reference]") {
  const Tensor half = tensor({}, {0.5});
  check_cases({
      {"DequantizeLinear",
       {tensor({2}, {-8, 7}, DType::kI4), half, tensor({}, {1}, DType::kI4)},
       {},
       {tensor({2}, {-4.5, 3})}},
      {"DequantizeLinear", {tensor({2}, {0, 65535}, DType::kU16), half}, {}, {tensor({2}, {0, 32767.5})}},
      {"DequantizeLinear", {tensor({2}, {-100000, 100000}, DType::kI32), half}, {}, {tensor({2}, {-50000, 50000})}},
      {"DequantizeLinear", {tensor({2}, {1.5, -448}, DType::kF8E4M3FN), half}, {}, {tensor({2}, {0.75, -224})}},
      {"DequantizeLinear", {tensor({2}, {1.5, -6}, DType::kF4E2M1), half}, {}, {tensor({2}, {0.75, -3})}},
      {"DequantizeLinear",
       {tensor({1}, {3}, kI8), tensor({}, {0.5}, DType::kF16)},
       {},
       {tensor({1}, {1.5}, DType::kF16)}},
      {"DequantizeLinear", {tensor({1}, {3}, kI8), half}, typed(DType::kBF16), {tensor({1}, {1.5}, DType::kBF16)}},
      {"DequantizeLinear",
       {tensor({1}, {3}, kI8), tensor({}, {0.1}, DType::kF64)},
       {},
       {tensor({1}, {3 * 0.1}, DType::kF64)},
       1e-15},
  });
}

TEST_CASE("QuantizeLinear to float8 saturates unless told not to", "[reference]") {
  const Tensor x = tensor({2}, {1000, 3});
  const int f8 = static_cast<int>(DType::kF8E4M3FN);
  const Tensor codes = run_op("QuantizeLinear", {x, tensor({}, {2})}, {{attr("output_dtype", f8)}});
  check_cases({{"DequantizeLinear", {codes, tensor({}, {2})}, {}, {tensor({2}, {896, 3})}}});
  const Tensor open = run_op("QuantizeLinear", {x, tensor({}, {2})}, {{attr("output_dtype", f8), attr("saturate", 0)}});
  check_cases({{"DequantizeLinear", {open, tensor({}, {2})}, {}, {tensor({2}, {std::nan(""), 3})}}});
}

TEST_CASE("DynamicQuantizeLinear spans zero and the data", "[reference]") {
  // The range is [-1, 4]: a scale of 5 / 255, and zero at code 51.
  check_cases({
      {"DynamicQuantizeLinear",
       {tensor({3}, {-1, 0, 4})},
       {{}, 0, {}, 3},
       {tensor({3}, {0, 51, 255}, kU8), tensor({}, {5.0 / 255}), tensor({}, {51}, kU8)}},
      {"DynamicQuantizeLinear",
       {tensor({2}, {1, 4})},
       {{}, 0, {}, 3},
       {tensor({2}, {64, 255}, kU8), tensor({}, {4.0 / 255}), tensor({}, {0}, kU8)}},
      {"DynamicQuantizeLinear",
       {tensor({2}, {0, 0})},
       {{}, 0, {}, 3},
       {tensor({2}, {0, 0}, kU8), tensor({}, {1}), tensor({}, {0}, kU8)}},
      {"DynamicQuantizeLinear",  // numbers whose range has no 255th part
       {tensor({2}, {0, 1e-44})},
       {{}, 0, {}, 3},
       {tensor({2}, {0, 0}, kU8), tensor({}, {1}), tensor({}, {0}, kU8)}},
      {"DynamicQuantizeLinear",  // as ONNX Runtime has it
       {tensor({3}, {-INFINITY, 1, 2})},
       {{}, 0, {}, 3},
       {tensor({3}, {0, 255, 255}, kU8), tensor({}, {INFINITY}), tensor({}, {255}, kU8)}},
      {"DynamicQuantizeLinear",
       {tensor({3}, {INFINITY, 1, 2})},
       {{}, 0, {}, 3},
       {tensor({3}, {0, 0, 0}, kU8), tensor({}, {INFINITY}), tensor({}, {0}, kU8)}},
  });
}

}  // namespace
}  // namespace mlopt::test
