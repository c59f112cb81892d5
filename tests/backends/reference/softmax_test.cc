#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

/// Softmax of [outer, length, inner] by its definition.
std::vector<double> softmax(const Tensor& x, int64_t outer, int64_t length, int64_t inner) {
  std::vector<double> y(static_cast<size_t>(x.size()));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      double sum = 0;
      const auto at = [&](int64_t k) { return (o * length + k) * inner + i; };
      for (int64_t k = 0; k < length; ++k) sum += std::exp(number_at(x, at(k)));
      for (int64_t k = 0; k < length; ++k) y[static_cast<size_t>(at(k))] = std::exp(number_at(x, at(k))) / sum;
    }
  return y;
}

TEST_CASE("Softmax and LogSoftmax work along one axis from opset 13, over all that follow before", "[reference]") {
  const auto [type, tolerance] =
      GENERATE(table<DType, double>({{DType::kF64, 1e-14}, {DType::kF32, 3e-7}, {DType::kF16, 1e-3}}));
  const Tensor x = uniform({2, 3, 4}, -4, 4, type);
  const struct {
    int64_t opset, axis, outer, length, inner;
  } rows[] = {{13, -1, 6, 4, 1}, {13, 1, 2, 3, 4},  {13, 0, 1, 2, 12}, {11, 1, 2, 12, 1},
              {11, 2, 6, 4, 1},  {11, 0, 1, 24, 1}, {11, -2, 2, 12, 1}};
  for (const auto& row : rows) {
    INFO("opset " << row.opset << ", axis " << row.axis << " in " << name(type));
    std::vector<double> expected = softmax(x, row.outer, row.length, row.inner);
    const OpOptions options{{attr("axis", static_cast<int>(row.axis))}, row.opset};
    require_close(cast(run_op("Softmax", {x}, options), DType::kF64), tensor({2, 3, 4}, expected, DType::kF64),
                  tolerance);
    for (double& value : expected) value = std::log(value);
    require_close(cast(run_op("LogSoftmax", {x}, options), DType::kF64), tensor({2, 3, 4}, expected, DType::kF64),
                  tolerance);
  }
}

TEST_CASE("the defaults of the axis, large inputs and masks", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x = tensor({2, 1, 2}, {0, 0, 0, 0});
  check_cases({
      {"Softmax", {x}, {}, {tensor({2, 1, 2}, {0.5, 0.5, 0.5, 0.5})}},
      {"Softmax", {tensor({1, 2, 2}, {0, 0, 0, 0})}, {{}, 11}, {tensor({1, 2, 2}, {0.25, 0.25, 0.25, 0.25})}},
      {"Softmax", {tensor({3}, {1000, 1000, -inf})}, {}, {tensor({3}, {0.5, 0.5, 0})}},
      {"LogSoftmax", {tensor({2}, {1000, 0})}, {}, {tensor({2}, {0, -1000})}},
      {"Softmax", {tensor({2}, {-inf, -inf})}, {}, {tensor({2}, {nan, nan})}},
      {"Softmax", {tensor({2}, {nan, 0})}, {}, {tensor({2}, {nan, nan})}},
      {"Softmax", {Tensor(DType::kF32, {2, 0})}, {}, {Tensor(DType::kF32, {2, 0})}},
  });
  check_errors({
      {"Softmax", {x}, {{attr("axis", 3)}}, "axis 3"},
      {"Softmax", {counting({2}, DType::kI32)}, {}, "does not take int32"},
  });
}

TEST_CASE("Hardmax marks the first largest element", "[reference]") {
  check_cases({
      {"Hardmax", {tensor({2, 3}, {1, 3, 3, 0, -1, -2})}, {}, {tensor({2, 3}, {0, 1, 0, 1, 0, 0})}},
      {"Hardmax", {tensor({2, 2}, {1, 3, 3, 0})}, {{attr("axis", 0)}}, {tensor({2, 2}, {0, 1, 1, 0})}},
      {"Hardmax", {tensor({1, 2, 2}, {1, 3, 3, 0})}, {{}, 11}, {tensor({1, 2, 2}, {0, 1, 0, 0})}},
  });
}

}  // namespace
}  // namespace mlopt::test
