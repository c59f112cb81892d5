#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

using Ints = std::vector<int64_t>;

TEST_CASE("softmax along any axis on a GPU") {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (const int axis : {0, 1, -1}) {
      require_on_gpu(op, {uniform({3, 5, 300}, -20, 20)}, {.attrs = {attr("axis", axis)}});
      require_on_gpu(op, {uniform({3, 5, 7}, -3, 3)}, {.attrs = {attr("axis", axis)}, .opset = 11});
    }
  const double low = -INFINITY;
  require_on_gpu("Softmax", {tensor({2, 4}, {low, 1, low, 2, low, low, low, 0})});
  require_on_gpu("Softmax", {tensor({1, 3}, {low, low, low})});
  require_on_gpu("Softmax", {uniform({9, 40}, -3, 3, DType::kF16)}, {}, 1e-2);
}

TEST_CASE("reductions over any axes on a GPU") {
  const Tensor x = uniform({3, 4, 5, 130}, 0.5, 1.5);
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum"})
    for (const Ints& axes : {Ints{3}, Ints{1}, Ints{0, 2}, Ints{1, 2, 3}, Ints{0, 1, 2, 3}})
      for (const int keep : {0, 1})
        require_on_gpu(op, {x, Tensor::ints(axes)}, {.attrs = {attr("keepdims", keep)}, .fixed = true}, 3e-5);
  require_on_gpu("ReduceProd", {uniform({3, 40}, 0.9, 1.1), Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("ReduceSum", {counting({4, 60}, DType::kI64), Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("ReduceMax", {tensor({2, 2}, {1, NAN, 3, 2}), Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("GlobalAveragePool", {uniform({2, 3, 7, 9}, -1, 1)});
  require_on_gpu("GlobalMaxPool", {uniform({2, 3, 7}, -1, 1)});
}

TEST_CASE("reductions over no axes on a GPU") {
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceL1", "ReduceSumSquare", "ReduceLogSum"})
    require_on_gpu(op, {uniform({3, 4}, 0.5, 2), Tensor::ints({})},
                   {.attrs = {attr("noop_with_empty_axes", 1)}, .opset = 20, .fixed = true});
}

TEST_CASE("normalizations of rows on a GPU") {
  for (const int64_t n : {7, 300}) {
    const Tensor x = uniform({2, 5, n}, -2, 3), scale = uniform({n}, 0.5, 2), bias = uniform({n}, -1, 1);
    require_on_gpu("LayerNormalization", {x, scale, bias});
    require_on_gpu("LayerNormalization", {x, scale});
    require_on_gpu("RMSNormalization", {x, scale});
    require_on_gpu("SimplifiedLayerNormalization", {x, scale}, {.opset = 1});
    const Tensor skip = uniform({2, 5, n}, -1, 1);
    require_on_gpu("SkipLayerNormalization", {x, skip, scale, bias, uniform({n}, -1, 1)}, {.domain = "com.microsoft"});
    require_on_gpu("SkipSimplifiedLayerNormalization", {x, skip, scale}, {.domain = "com.microsoft"});
  }
  require_on_gpu("LayerNormalization", {uniform({2, 4, 6}, -2, 3), uniform({4, 6}, 0, 1), uniform({4, 6}, 0, 1)},
                 {.attrs = {attr("axis", 1)}});
}

TEST_CASE("normalizations of channels on a GPU") {
  const Tensor x = uniform({2, 6, 5, 7}, -2, 3), scale = uniform({6}, 0.5, 2), bias = uniform({6}, -1, 1);
  require_on_gpu("InstanceNormalization", {x, scale, bias});
  require_on_gpu("GroupNormalization", {x, scale, bias}, {.attrs = {attr("num_groups", 3)}, .opset = 21});
  require_on_gpu("BatchNormalization", {x, scale, bias, uniform({6}, -1, 1), uniform({6}, 0.5, 2)});
}

}  // namespace mlopt::test
