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
  const double high = INFINITY;
  for (const char* op : {"Softmax", "LogSoftmax"})
    require_on_gpu(op, {tensor({3, 4}, {high, 1, low, 2, high, high, 0, 1, NAN, 0, 1, high})});
}

TEST_CASE("each element of a vector is a row of the old softmax on a GPU, whose axis is not given") {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) require_on_gpu(op, {uniform({5}, -1, 1)}, {.opset = 11});
}

TEST_CASE("reductions over any axes on a GPU") {
  const Tensor x = uniform({3, 4, 5, 130}, 0.5, 1.5);
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                         "ReduceLogSum", "ReduceLogSumExp"})
    for (const Ints& axes : {Ints{3}, Ints{1}, Ints{0, 2}, Ints{1, 2, 3}, Ints{0, 1, 2, 3}})
      for (const int keep : {0, 1})
        require_on_gpu(op, {x, Tensor::ints(axes)}, {.attrs = {attr("keepdims", keep)}, .fixed = true}, 3e-5);
  require_on_gpu("ReduceProd", {uniform({3, 40}, 0.9, 1.1), Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("ReduceSum", {counting({4, 60}, DType::kI64), Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("ReduceMax", {tensor({2, 2}, {1, NAN, 3, 2}), Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("GlobalAveragePool", {uniform({2, 3, 7, 9}, -1, 1)});
  require_on_gpu("GlobalMaxPool", {uniform({2, 3, 7}, -1, 1)});
  for (const int p : {1, 2}) require_on_gpu("GlobalLpPool", {uniform({2, 3, 7, 9}, -1, 1)}, {.attrs = {attr("p", p)}});
  const double low = -INFINITY, high = INFINITY;
  const Tensor far = tensor({5, 3}, {low, low, low, 1, high, low, 200, 201, -300, 0, NAN, 1, high, high, 0});
  require_on_gpu("ReduceLogSumExp", {far, Tensor::ints({1})}, {.fixed = true});
  require_on_gpu("ReduceLogSumExp", {uniform({3, 70}, -9, 9)}, {.attrs = {attr("axes", Ints{1})}, .opset = 13});
}

TEST_CASE("partial results of reductions of halves on a GPU do not overflow") {
  const Tensor x = uniform({40, 2, 40, 3}, 190, 200, DType::kF16);
  for (const char* op : {"ReduceMean", "ReduceL2", "ReduceLogSum"})
    require_on_gpu(op, {x, Tensor::ints({0, 2})}, {.fixed = true}, 1e-3);
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

TEST_CASE("scales and biases of normalized rows broadcast on a GPU") {
  const Tensor x = uniform({4, 3, 6}, -2, 3);
  for (const Dims& dims : {Dims{6}, Dims{3, 1}, Dims{1, 1, 6}, Dims{4, 1, 1}, Dims{4, 3, 6}, Dims{1}})
    for (const char* op : {"LayerNormalization", "RMSNormalization"}) {
      INFO(op << " by " << to_string(dims));
      require_on_gpu(op, {x, uniform(dims, 0.5, 2)}, {.attrs = {attr("axis", 1)}});
    }
  require_on_gpu("LayerNormalization", {x, uniform({6}, 0.5, 2), uniform({4, 1, 6}, -1, 1)},
                 {.attrs = {attr("axis", 1)}});
}

TEST_CASE("rows of small numbers are normalized on a GPU by the small epsilon of the fused operators") {
  const Tensor x = uniform({2, 8}, -1e-4, 1e-4), skip = uniform({2, 8}, -1e-4, 1e-4, DType::kF32, 2);
  for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    require_on_gpu(op, {x, skip, uniform({8}, 0.5, 2)}, {.domain = "com.microsoft"});
}

TEST_CASE("stored statistics of channels are of either type on a GPU") {
  const Tensor x = uniform({2, 6, 5}, -2, 3, DType::kF16);
  for (const DType scales : {DType::kF16, DType::kF32})
    for (const DType statistics : {DType::kF16, DType::kF32})
      require_on_gpu("BatchNormalization",
                     {x, uniform({6}, 0.5, 2, scales), uniform({6}, -1, 1, scales), uniform({6}, -1, 1, statistics),
                      uniform({6}, 0.5, 2, statistics)},
                     {}, 1e-2);
}

TEST_CASE("normalizations of channels on a GPU") {
  const Tensor x = uniform({2, 6, 5, 7}, -2, 3), scale = uniform({6}, 0.5, 2), bias = uniform({6}, -1, 1);
  require_on_gpu("InstanceNormalization", {x, scale, bias});
  require_on_gpu("GroupNormalization", {x, scale, bias}, {.attrs = {attr("num_groups", 3)}, .opset = 21});
  require_on_gpu("BatchNormalization", {x, scale, bias, uniform({6}, -1, 1), uniform({6}, 0.5, 2)});
}

}  // namespace mlopt::test
