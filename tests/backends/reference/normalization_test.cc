#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kF64 = DType::kF64;

/// (x - mean) / sqrt(variance + epsilon) over the listed elements, by definition.
std::vector<double> standardized(const std::vector<double>& x, double epsilon) {
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  std::vector<double> y;
  for (const double v : x) y.push_back((v - mean) / std::sqrt(variance + epsilon));
  return y;
}

TEST_CASE("BatchNormalization with given statistics, in every form", "[reference]") {
  const Tensor x = tensor({1, 2, 2}, {1, 2, 3, 4});
  const std::vector<Datum> channels{x, tensor({2}, {2, 3}), tensor({2}, {1, -1}), tensor({2}, {1, 3}),
                                    tensor({2}, {4, 0.25})};
  const Tensor y = tensor({1, 2, 2}, {1, 2, -1, 5});
  const OpOptions exact{{attr("epsilon", 0.0f)}};
  check_cases({
      {"BatchNormalization", channels, exact, {y}},
      {"BatchNormalization", channels, {{attr("epsilon", 0.0f)}, 9}, {y}},
      {"BatchNormalization", channels, {{attr("epsilon", 0.0f), attr("is_test", 1)}, 6}, {y}},
      {"BatchNormalization",
       {x, tensor({2, 2}, {1, 2, 3, 4}), tensor({2, 2}, {0, 0, 0, 0}), tensor({2, 2}, {0, 0, 0, 0}),
        tensor({2, 2}, {1, 1, 1, 1})},
       {{attr("epsilon", 0.0f), attr("spatial", 0)}, 7},
       {tensor({1, 2, 2}, {1, 4, 9, 16})}},
      {"BatchNormalization",
       {tensor({2}, {1, 2}), tensor({1}, {2}), tensor({1}, {0}), tensor({1}, {1}), tensor({1}, {1})},
       exact,
       {tensor({2}, {0, 2})}},
  });
  check_errors(
      {{"BatchNormalization", {x, channels[1], channels[2], channels[3], tensor({3}, {1, 1, 1})}, {}, "3 elements"}});
}

TEST_CASE("BatchNormalization in training takes the batch's statistics", "[reference]") {
  const Tensor x = tensor({2, 1, 2}, {1, 2, 3, 6}, kF64);
  const Tensor one = tensor({1}, {1}, kF64), zero = tensor({1}, {0}, kF64);
  const OpOptions training{{attr("training_mode", 1), attr("momentum", 0.75f), attr("epsilon", 0.5f)}, 0, {}, 3};
  // The mean is 3, the variance (4 + 1 + 0 + 9) / 4.
  check_cases({{"BatchNormalization",
                {x, one, zero, tensor({1}, {7}, kF64), tensor({1}, {2}, kF64)},
                training,
                {tensor({2, 1, 2}, standardized({1, 2, 3, 6}, 0.5), kF64), tensor({1}, {7 * 0.75 + 3 * 0.25}, kF64),
                 tensor({1}, {2 * 0.75 + 3.5 * 0.25}, kF64)},
                1e-12}});
}

TEST_CASE("InstanceNormalization and GroupNormalization standardize channels and groups", "[reference]") {
  const Tensor x = uniform({1, 4, 3}, -2, 3, kF64);
  const std::vector<double> values = to_doubles(x);
  const auto part = [&](size_t from, size_t count) {
    return standardized({values.begin() + static_cast<long>(from), values.begin() + static_cast<long>(from + count)},
                        0.25);
  };
  const std::vector<double> scale{1, 2, 3, 4}, bias{0, -1, 5, 2};
  std::vector<double> instance, by_group, by_channel;
  for (size_t c = 0; c < 4; ++c) {
    const auto channel = part(c * 3, 3), group = part(c / 2 * 6, 6);
    for (size_t i = 0; i < 3; ++i) {
      instance.push_back(channel[i] * scale[c] + bias[c]);
      by_group.push_back(group[c % 2 * 3 + i] * scale[c / 2] + bias[c / 2]);
      by_channel.push_back(group[c % 2 * 3 + i] * scale[c] + bias[c]);
    }
  }
  const Attr epsilon = attr("epsilon", 0.25f), groups = attr("num_groups", 2);
  const Tensor scales = tensor({4}, scale, kF64), shifts = tensor({4}, bias, kF64);
  check_cases({
      {"InstanceNormalization", {x, scales, shifts}, {{epsilon}}, {tensor({1, 4, 3}, instance, kF64)}, 1e-12},
      {"GroupNormalization",
       {x, tensor({2}, {1, 2}, kF64), tensor({2}, {0, -1}, kF64)},
       {{epsilon, groups}, 18},
       {tensor({1, 4, 3}, by_group, kF64)},
       1e-12},
      {"GroupNormalization",
       {x, scales, shifts},
       {{epsilon, groups}, 21},
       {tensor({1, 4, 3}, by_channel, kF64)},
       1e-12},
  });
  check_errors({{"GroupNormalization", {x, scales, shifts}, {{attr("num_groups", 3)}}, "num_groups"},
                {"InstanceNormalization", {x, tensor({1}, {1}, kF64), shifts}, {}, "1 elements"}});
}

TEST_CASE("LRN sums the squares of neighbouring channels", "[reference]") {
  const Tensor x = tensor({1, 4, 1, 1}, {1, 2, 3, 4}, kF64);
  const auto y = [](double value, double squares) { return value / std::pow(2 + 0.5 / 3 * squares, 0.75); };
  check_cases({{"LRN",
                {x},
                {{attr("size", 3), attr("alpha", 0.5f), attr("beta", 0.75f), attr("bias", 2.0f)}},
                {tensor({1, 4, 1, 1}, {y(1, 5), y(2, 14), y(3, 29), y(4, 25)}, kF64)},
                1e-12}});
  // An even size reaches one channel further ahead than back.
  check_cases({{"LRN",
                {x},
                {{attr("size", 2), attr("alpha", 2.0f), attr("beta", 1.0f), attr("bias", 0.0f)}},
                {tensor({1, 4, 1, 1}, {1.0 / 5, 2.0 / 13, 3.0 / 25, 4.0 / 16}, kF64)},
                1e-12}});
  check_errors({{"LRN", {x}, {{attr("size", 0)}}, "size"}, {"LRN", {x}, {}, "size"}});
}

TEST_CASE("LpNormalization and MeanVarianceNormalization", "[reference]") {
  const Tensor x = tensor({2, 2}, {3, -4, 0, 0});
  check_cases({
      {"LpNormalization", {x}, {}, {tensor({2, 2}, {0.6, -0.8, 0, 0})}},
      {"LpNormalization", {x}, {{attr("p", 1)}}, {tensor({2, 2}, {3 / 7.0, -4 / 7.0, 0, 0})}},
      {"LpNormalization", {x}, {{attr("axis", 0)}}, {tensor({2, 2}, {1, -1, 0, 0})}},
      {"MeanVarianceNormalization", {x}, {{attr("axes", std::vector<int64_t>{1})}}, {tensor({2, 2}, {1, -1, 0, 0})}},
      {"MeanVarianceNormalization", {tensor({1, 1, 1, 2}, {5, 9})}, {}, {tensor({1, 1, 1, 2}, {-1, 1})}},
  });
  check_errors(
      {{"LpNormalization", {x}, {{attr("p", 3)}}, "p must be"}, {"MeanVarianceNormalization", {x}, {}, "axis 2"}});
}

}  // namespace
}  // namespace mlopt::test
