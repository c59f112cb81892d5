#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kF64 = DType::kF64;

OpOptions contrib(std::vector<Attr> attrs = {}, int outputs = 1) {
  return {std::move(attrs), 1, "com.microsoft", outputs};
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double fast_gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

TEST_CASE("Gelu in its forms", "[reference]") {
  const Tensor x = uniform({3, 4}, -3, 3, kF64, 1), bias = uniform({4}, -1, 1, kF64, 2);
  std::vector<double> exact, biased, fast, quick;
  for (int64_t i = 0; i < 12; ++i) {
    const double v = number_at(x, i), sum = v + number_at(bias, i % 4);
    exact.push_back(gelu(v));
    biased.push_back(gelu(sum));
    fast.push_back(fast_gelu(sum));
    quick.push_back(v / (1 + std::exp(-0.5 * v)));
  }
  const auto wanted = [](const std::vector<double>& values) {
    return std::vector<Datum>{tensor({3, 4}, values, kF64)};
  };
  check_cases({
      {"Gelu", {x}, contrib(), wanted(exact), 1e-14},
      {"BiasGelu", {x, bias}, contrib(), wanted(biased), 1e-14},
      {"FastGelu", {x, bias}, contrib(), wanted(fast), 1e-14},
      {"QuickGelu", {x}, contrib({attr("alpha", 0.5f)}), wanted(quick), 1e-14},
  });
  check_errors({{"BiasGelu", {x, uniform({3}, 0, 1, kF64)}, contrib(), "broadcast"}});
}

TEST_CASE("BiasAdd and BiasSoftmax", "[reference]") {
  const double low = 1 / (1 + std::exp(1.0)), high = 1 - low;
  const Tensor x = tensor({2, 2, 2}, std::vector<double>(8)), bias = tensor({2, 1, 2}, {0, 1, 1, 0});
  check_cases({
      {"BiasAdd",
       {counting({1, 2, 2}), tensor({2}, {10, 20}), counting({1, 2, 2})},
       contrib(),
       {tensor({1, 2, 2}, {10, 22, 14, 26})}},
      {"BiasSoftmax",
       {x, bias},
       contrib({attr("axis", 2), attr("is_inner_broadcast", 1)}),
       {tensor({2, 2, 2}, {low, high, low, high, high, low, high, low})}},
      {"BiasSoftmax",
       {x, bias.reshaped({1, 2, 2})},
       contrib({attr("axis", 2), attr("is_inner_broadcast", 0)}),
       {tensor({2, 2, 2}, {low, high, high, low, low, high, high, low})}},
  });
  check_errors(
      {{"BiasSoftmax", {x, counting({3})}, contrib({attr("axis", 2), attr("is_inner_broadcast", 0)}), "bias"}});
}

TEST_CASE("SkipLayerNormalization normalizes the sum and gives it", "[reference]") {
  const Tensor x = tensor({1, 2, 2}, {1, 2, 3, 4}), skip = tensor({1, 2, 2}, {1, 4, -3, 4}), bias = tensor({2}, {0, 2});
  const Tensor gamma = tensor({2}, {2, 3}), beta = tensor({2}, {10, 20});
  // The sums are [2, 8] and [0, 10]: means 5, deviations 3 and 5.
  const Tensor sum = tensor({1, 2, 2}, {2, 8, 0, 10});
  check_cases({
      {"SkipLayerNormalization",
       {x, skip, gamma, beta, bias},
       contrib({attr("epsilon", 0.0f)}, 4),
       {tensor({1, 2, 2}, {8, 23, 8, 23}), tensor({1, 2, 1}, {5, 5}), tensor({1, 2, 1}, {1 / 3.0, 0.2}), sum}},
      {"SkipLayerNormalization",
       {x, tensor({2, 2}, {1, 6, -3, 6}), gamma},
       contrib({attr("epsilon", 0.0f)}),
       {tensor({1, 2, 2}, {-2, 3, -2, 3})}},
      {"SkipSimplifiedLayerNormalization",
       {x, skip, gamma, bias},
       contrib({attr("epsilon", 16.0f)}, 4),
       {tensor({1, 2, 2}, {4 / std::sqrt(50.0), 24 / std::sqrt(50.0), 0, 30 / std::sqrt(66.0)}), Datum(),
        tensor({1, 2, 1}, {1 / std::sqrt(50.0), 1 / std::sqrt(66.0)}), sum}},
  });
  check_errors({{"SkipLayerNormalization", {x, counting({3}), gamma}, contrib(), "broadcast"}});
}

TEST_CASE("EmbedLayerNormalization adds the embeddings", "[reference]") {
  const Tensor ids = tensor({1, 2}, {1, 0}, DType::kI32), segments = tensor({1, 2}, {0, 1}, DType::kI32);
  const Tensor words = tensor({2, 2}, {0, 4, 1, 1}), places = tensor({3, 2}, {0, 2, 2, 0, 7, 7});
  const Tensor kinds = tensor({2, 2}, {0, 0, 0, 2}), gamma = tensor({2}, {1, 2}), beta = tensor({2}, {5, 6});
  const Tensor mask = tensor({1, 2}, {1, 0}, DType::kI32);
  const OpOptions options = contrib({attr("epsilon", 0.0f)}, 3);
  check_cases({
      {"EmbedLayerNormalization",
       {ids, segments, words, places, kinds, gamma, beta, mask},
       options,
       {tensor({1, 2, 2}, {4, 8, 4, 8}), tensor({1}, {1}, DType::kI32), tensor({1, 2, 2}, {1, 3, 2, 6})}},
      {"EmbedLayerNormalization",
       {ids, Datum(), words, places, Datum(), gamma, beta, Datum(), tensor({1, 2}, {0, 0}, DType::kI32)},
       options,
       {tensor({1, 2, 2}, {4, 8, 4, 8}), tensor({1}, {0}, DType::kI32), tensor({1, 2, 2}, {1, 3, 0, 6})}},
  });
  check_errors({
      {"EmbedLayerNormalization",
       {tensor({1, 1}, {2}, DType::kI32), Datum(), words, places, Datum(), gamma, beta},
       options,
       "index 2"},
      {"EmbedLayerNormalization",
       {tensor({1, 4}, {0, 0, 0, 0}, DType::kI32), Datum(), words, places, Datum(), gamma, beta},
       options,
       "position"},
  });
}

}  // namespace
}  // namespace mlopt::test
