#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kF64 = DType::kF64;

Tensor numbers(Dims dims, const std::vector<double>& values) { return tensor(std::move(dims), values, kF64); }

TEST_CASE("NegativeLogLikelihoodLoss picks, weighs and reduces", "[reference]") {
  const Tensor x = numbers({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor labels = tensor({2, 2}, {2, 0, 1, 2}, DType::kI64), weights = numbers({3}, {0.5, 2, 1});
  const auto reduction = [](const char* how) { return OpOptions{{attr("reduction", how)}}; };
  check_cases({
      {"NegativeLogLikelihoodLoss", {x, labels}, reduction("none"), {numbers({2, 2}, {-5, -2, -9, -12})}},
      {"NegativeLogLikelihoodLoss", {x, labels}, reduction("sum"), {numbers({}, {-28})}},
      {"NegativeLogLikelihoodLoss", {x, labels}, {}, {numbers({}, {-7})}},
      {"NegativeLogLikelihoodLoss", {x, labels, weights}, reduction("none"), {numbers({2, 2}, {-5, -1, -18, -12})}},
      {"NegativeLogLikelihoodLoss", {x, labels, weights}, {}, {numbers({}, {-36 / 4.5})}},
      {"NegativeLogLikelihoodLoss", {x, labels}, {{attr("ignore_index", 2)}}, {numbers({}, {-5.5})}},
      {"NegativeLogLikelihoodLoss", {x, labels, weights}, {{attr("ignore_index", 2)}}, {numbers({}, {-19 / 2.5})}},
  });
  check_cases({{"NegativeLogLikelihoodLoss",
                {x, tensor({2, 2}, {-1, 0, 1, -1}, DType::kI32)},
                {{attr("ignore_index", -1)}},
                {numbers({}, {-5.5})}}});
  check_errors({
      {"NegativeLogLikelihoodLoss", {x, tensor({2, 2}, {3, 0, 1, 2}, DType::kI64)}, {}, "label 3"},
      {"NegativeLogLikelihoodLoss", {x, tensor({2}, {0, 1}, DType::kI64)}, {}, "labels of shape 2"},
      {"NegativeLogLikelihoodLoss", {x, labels, numbers({2}, {1, 1})}, {}, "weight for each class"},
      {"NegativeLogLikelihoodLoss", {x, labels}, reduction("most"), "reduction"},
  });
}

TEST_CASE("SoftmaxCrossEntropyLoss is the loss of the softmax", "[reference]") {
  const Tensor x = numbers({2, 3}, {1, 2, 4, 0, 0, 1000});
  const double first = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(4.0));
  const Tensor log_probability = numbers({2, 3}, {1 - first, 2 - first, 4 - first, -1000, -1000, 0});
  check_cases({
      {"SoftmaxCrossEntropyLoss",
       {x, Tensor::ints({1, 0})},
       {{attr("reduction", "none")}, 0, {}, 2},
       {numbers({2}, {first - 2, 1000}), log_probability},
       1e-14},
      {"SoftmaxCrossEntropyLoss", {x, Tensor::ints({1, 2})}, {}, {numbers({}, {(first - 2) / 2})}, 1e-14},
      {"SoftmaxCrossEntropyLoss",
       {x, Tensor::ints({1, 2}), numbers({3}, {0, 3, 1})},
       {},
       {numbers({}, {3 * (first - 2) / 4})},
       1e-14},
  });
}

}  // namespace
}  // namespace mlopt::test
