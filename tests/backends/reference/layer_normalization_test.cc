#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

struct Rows {
  std::vector<double> y, mean, inverse;
};

/// The definition over rows of `length`; scale and bias have one element for each position of the row.
Rows normalized(const Tensor& x, int64_t length, const Tensor& scale, const Tensor& bias, bool centered,
                double epsilon) {
  Rows out;
  for (int64_t row = 0; row < x.size() / length; ++row) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < length; ++i) mean += number_at(x, row * length + i) / static_cast<double>(length);
    if (!centered) mean = 0;
    for (int64_t i = 0; i < length; ++i)
      square += std::pow(number_at(x, row * length + i) - mean, 2) / static_cast<double>(length);
    out.mean.push_back(mean);
    out.inverse.push_back(1 / std::sqrt(square + epsilon));
    for (int64_t i = 0; i < length; ++i)
      out.y.push_back((number_at(x, row * length + i) - mean) * out.inverse.back() * number_at(scale, i) +
                      number_at(bias, i));
  }
  return out;
}

TEST_CASE("LayerNormalization and RMSNormalization follow their definition", "[reference]") {
  const auto [type, tolerance] = GENERATE(
      table<DType, double>({{DType::kF64, 1e-13}, {DType::kF32, 1e-6}, {DType::kF16, 1e-3}, {DType::kBF16, 8e-3}}));
  const Tensor x = uniform({2, 3, 4}, -2, 3, type, 1);
  const Tensor scale = uniform({3, 4}, 0.5, 2, type, 2), bias = uniform({3, 4}, -1, 1, type, 3);
  const OpOptions layer{{attr("axis", 1), attr("epsilon", 0.0625f)}, 0, {}, 3};
  const Rows rows = normalized(x, 12, scale, bias, true, 0.0625);
  const std::vector<Datum> outs = run_node("LayerNormalization", {x, scale, bias}, layer);
  require_close(cast(outs[0].tensor(), DType::kF64), tensor({2, 3, 4}, rows.y, DType::kF64), tolerance);
  require_close(cast(outs[1].tensor(), DType::kF64), tensor({2, 1, 1}, rows.mean, DType::kF64), 2e-7);
  require_close(cast(outs[2].tensor(), DType::kF64), tensor({2, 1, 1}, rows.inverse, DType::kF64), 2e-7);
  for (const size_t i : {1, 2}) REQUIRE(outs[i].tensor().dtype() == DType::kF32);

  const OpOptions rms{{attr("axis", 1), attr("epsilon", 0.0625f)}};
  const Tensor none = tensor({12}, std::vector<double>(12), DType::kF64);
  const Tensor y = run_op("RMSNormalization", {x, scale}, rms);
  require_close(cast(y, DType::kF64), tensor({2, 3, 4}, normalized(x, 12, scale, none, false, 0.0625).y, DType::kF64),
                tolerance);
}

TEST_CASE("beside an infinity RMSNormalization leaves nothing of numbers", "[reference]") {
  const Tensor x = tensor({2, 3}, {1, INFINITY, -2, 3, 3, 3}), ones = tensor({3}, {1, 1, 1});
  check_cases(
      {{"RMSNormalization", {x, ones}, {{attr("epsilon", 0.0f)}}, {tensor({2, 3}, {0, std::nan(""), 0, 1, 1, 1})}}});
}

TEST_CASE("scale and bias broadcast, and a missing bias is zero", "[reference]") {
  const Tensor x = tensor({2, 2}, {-1, 1, -3, 3});
  const OpOptions exact{{attr("epsilon", 0.0f)}};
  check_cases({
      {"LayerNormalization", {x, tensor({1}, {2})}, exact, {tensor({2, 2}, {-2, 2, -2, 2})}},
      {"LayerNormalization", {x, tensor({2, 1}, {1, 10})}, exact, {tensor({2, 2}, {-1, 1, -10, 10})}},
      {"LayerNormalization", {x, tensor({2}, {1, 2}), tensor({2}, {5, 6})}, exact, {tensor({2, 2}, {4, 8, 4, 8})}},
  });
  check_errors({
      {"LayerNormalization", {x, tensor({3}, {1, 2, 3})}, exact, "broadcast"},
      {"LayerNormalization", {x, tensor({1}, {1})}, {{attr("axis", 2)}}, "axis 2"},
      {"LayerNormalization", {counting({2}, DType::kI32), counting({2}, DType::kI32)}, {}, "does not take int32"},
  });
}

TEST_CASE("SimplifiedLayerNormalization is the root-mean-square form", "[reference]") {
  const Tensor x = tensor({1, 2}, {3, 4});
  const double rms = std::sqrt(12.5);
  check_cases({{"SimplifiedLayerNormalization",
                {x, tensor({2}, {1, 2})},
                {{attr("epsilon", 0.0f)}, 0, {}, 2},
                {tensor({1, 2}, {3 / rms, 8 / rms}), tensor({1, 1}, {1 / rms})}}});
}

}  // namespace
}  // namespace mlopt::test
