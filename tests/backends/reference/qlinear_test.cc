#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kU8 = DType::kU8, kI8 = DType::kI8, kI32 = DType::kI32;

Tensor codes(Dims dims, DType type, uint64_t seed) {
  const double low = type == kU8 ? 0 : -128;
  return run_op("Cast", {uniform(std::move(dims), low, low + 256, DType::kF64, seed)},
                {{attr("to", static_cast<int>(type))}});
}

/// Sums of (a - a_zero[row]) * (b - b_zero[column]) by the definition.
std::vector<double> product(const Tensor& a, const std::vector<double>& a_zero, const Tensor& b,
                            const std::vector<double>& b_zero) {
  const int64_t m = a.dim(0), k = a.dim(1), n = b.dim(1);
  std::vector<double> out;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += (number_at(a, i * k + p) - a_zero[static_cast<size_t>(i) % a_zero.size()]) *
               (number_at(b, p * n + j) - b_zero[static_cast<size_t>(j) % b_zero.size()]);
      out.push_back(sum);
    }
  return out;
}

double requantized(double sum, double scale, double zero, double low, double high) {
  return std::clamp(std::nearbyint(static_cast<double>(static_cast<float>(sum) * static_cast<float>(scale))) + zero,
                    low, high);
}

TEST_CASE("MatMulInteger is exact, short and long", "[reference]") {
  const int64_t k = GENERATE(5, 400, 3000);  // sums of 3000 products do not fit float32
  const Tensor a = codes({3, k}, kU8, 1), b = codes({k, 4}, kI8, 2);
  const Tensor a_zero = tensor({3}, {0, 128, 255}, kU8), b_zero = tensor({4}, {-128, 0, 5, 127}, kI8);
  check_cases({
      {"MatMulInteger", {a, b}, {}, {tensor({3, 4}, product(a, {0}, b, {0}), kI32)}},
      {"MatMulInteger",
       {a, b, tensor({}, {7}, kU8), tensor({}, {-9}, kI8)},
       {},
       {tensor({3, 4}, product(a, {7}, b, {-9}), kI32)}},
      {"MatMulInteger",
       {a, b, a_zero, b_zero},
       {},
       {tensor({3, 4}, product(a, {0, 128, 255}, b, {-128, 0, 5, 127}), kI32)}},
  });
}

TEST_CASE("QLinearMatMul requantizes with scales for rows or columns", "[reference]") {
  const Tensor a = codes({3, 20}, kU8, 1), b = codes({20, 4}, kI8, 2);
  const std::vector<double> sums = product(a, {100}, b, {3}), columns{0.01, 0.02, 0.03, 0.04}, rows{0.5, 0.25, 0.125};
  std::vector<double> by_column, by_row;
  for (size_t i = 0; i < sums.size(); ++i) {
    by_column.push_back(
        requantized(sums[i], static_cast<double>(0.5f * static_cast<float>(columns[i % 4]) / 4.0f), 120, 0, 255));
    by_row.push_back(requantized(sums[i], rows[i / 4] * 0.0625 / 4, -3, -128, 127));
  }
  const Tensor a_zero = tensor({}, {100}, kU8), b_zero = tensor({}, {3}, kI8), b_zeros = tensor({4}, {3, 3, 3, 3}, kI8);
  check_cases({
      {"QLinearMatMul",
       {a, tensor({}, {0.5}), a_zero, b, tensor({4}, columns), b_zeros, tensor({}, {4}), tensor({}, {120}, kU8)},
       {},
       {tensor({3, 4}, by_column, kU8)}},
      {"QLinearMatMul",
       {a, tensor({3}, rows), tensor({3}, {100, 100, 100}, kU8), b, tensor({}, {0.0625}), b_zero, tensor({}, {4}),
        tensor({}, {-3}, kI8)},
       {},
       {tensor({3, 4}, by_row, kI8)}},
  });
}

TEST_CASE("ConvInteger pads with the zero point", "[reference]") {
  const Tensor x = tensor({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}, kU8), w = tensor({1, 1, 2, 2}, {1, 1, 1, 1}, kI8);
  const OpOptions padded{{attr("pads", std::vector<int64_t>{1, 1, 1, 1})}};
  check_cases({
      {"ConvInteger", {x, w, tensor({}, {1}, kU8)}, {}, {tensor({1, 1, 2, 2}, {12, 16, 24, 28}, kI32)}},
      {"ConvInteger",
       {x, w, tensor({}, {1}, kU8)},
       padded,
       {tensor({1, 1, 4, 4}, {1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}, kI32)}},
      {"ConvInteger",
       {x, w, tensor({}, {1}, kU8), tensor({1}, {1}, kI8)},
       {},
       {tensor({1, 1, 2, 2}, {0, 0, 0, 0}, kI32)}},
  });
  check_errors({{"ConvInteger", {x, w, tensor({}, {1}, kI8)}, {}, "type of the operand"}});
}

TEST_CASE("QLinearConv has a scale for each filter and a bias", "[reference]") {
  const Tensor x = codes({1, 2, 5}, kU8, 3), w = codes({3, 2, 5}, kI8, 4);
  const std::vector<double> w_scale{0.01, 0.02, 0.005}, bias{1000, -2000, 300};
  std::vector<double> expected;
  for (int64_t f = 0; f < 3; ++f) {
    double sum = bias[static_cast<size_t>(f)];
    for (int64_t i = 0; i < 10; ++i) sum += (number_at(x, i) - 120) * number_at(w, f * 10 + i);
    const float scale = 0.5f * static_cast<float>(w_scale[static_cast<size_t>(f)]) / 2.0f;
    expected.push_back(requantized(sum, static_cast<double>(scale), 128, 0, 255));
  }
  const std::vector<Datum> inputs{x,
                                  tensor({}, {0.5}),
                                  tensor({}, {120}, kU8),
                                  w,
                                  tensor({3}, w_scale),
                                  tensor({3}, {0, 0, 0}, kI8),
                                  tensor({}, {2}),
                                  tensor({}, {128}, kU8),
                                  tensor({3}, bias, kI32)};
  check_cases({{"QLinearConv", inputs, {}, {tensor({1, 3, 1}, expected, kU8)}}});
  std::vector<Datum> wrong = inputs;
  wrong[8] = tensor({2}, {1, 2}, kI32);
  check_errors({{"QLinearConv", wrong, {}, "bias"}});
}

}  // namespace
}  // namespace mlopt::test
