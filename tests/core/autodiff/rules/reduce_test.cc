#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> reduce_cases() {
  const Tensor x = real({2, 3, 4}, 0.3, 2), axes = tensor({2}, {0, -1}, DType::kI64),
               axis = tensor({}, {1}, DType::kI64);
  std::vector<GradCase> rows = {
      {"CumSum", {x, axis}},
      {"CumSum", {x, axis}, {.attrs = {attr("exclusive", 1), attr("reverse", 1)}}},
      {"GlobalAveragePool", {real({2, 3, 4, 5})}},
      {"GlobalMaxPool", {real({2, 3, 4, 5})}},
      {"ReduceSum", {x, Datum()}, {.attrs = {attr("noop_with_empty_axes", 1)}}},
      {"ReduceSum", {x}, {.attrs = {attr("axes", std::vector<int64_t>{-2}), attr("keepdims", 0)}, .opset = 11}},
  };
  const Tensor zeros = tensor({3, 3}, {0, 2, 3, 0, 4, 0, 5, 6, 7}, DType::kF64), rows_of = Tensor::ints({1});
  rows.push_back({"ReduceProd", {zeros, rows_of}});
  rows.push_back({"ReduceProd", {zeros, rows_of}, {.attrs = {attr("keepdims", 0)}}});
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    rows.push_back({op, {x}});
    rows.push_back({op, {x, axes}});
    rows.push_back({op, {x, axes}, {.attrs = {attr("keepdims", 0)}}});
  }
  return rows;
}

TEST_CASE("gradients of reductions") { check_gradients(reduce_cases()); }

}  // namespace mlopt::test
