#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> loss_cases() {
  const Tensor x = real({4, 5}), picture = real({2, 3, 2, 3}), weights = uniform({5}, 0.5, 2);
  const Tensor labels = tensor({4}, {3, 0, 4, 3}, DType::kI64);
  const Tensor map = tensor({2, 2, 3}, {0, 2, 1, 1, 2, 0, 0, 1, 2, 2, 2, 0}, DType::kI32);
  std::vector<GradCase> rows;
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
    for (const char* reduction : {"mean", "sum", "none"}) {
      const auto how = attr("reduction", reduction);
      rows.push_back({op, {x, labels}, {.attrs = {how}}});
      rows.push_back({op, {x, labels, weights}, {.attrs = {how}, .opset = 12}});
      rows.push_back({op, {x, labels, weights}, {.attrs = {how, attr("ignore_index", 3)}}});
      rows.push_back({op, {picture, map}, {.attrs = {how, attr("ignore_index", -1)}}});
    }
  rows.push_back({"SoftmaxCrossEntropyLoss", {x, labels}, {.outputs = 2}});
  rows.push_back({"SoftmaxCrossEntropyLoss", {picture, map}, {.outputs = 2}});
  return rows;
}

TEST_CASE("gradients of losses") { check_gradients(loss_cases()); }

TEST_CASE("the gradient of a loss refuses a label that is no class") {
  check_errors({{"SoftmaxCrossEntropyLossGrad",
                 {real({2, 3}), tensor({2}, {1, 3}, DType::kI64), tensor({}, {1}, DType::kF64)},
                 {.domain = "mlopt"},
                 "label 3 is not a class"}});
}

}  // namespace mlopt::test
