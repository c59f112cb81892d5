#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("the largest and the smallest element of an axis on a GPU") {
  const Tensor x = uniform({3, 5, 300}, -9, 9), ties = tensor({2, 6}, {1, 3, 3, 0, 0, 2, 4, NAN, 4, 1, NAN, 1});
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const int last : {0, 1}) {
      for (const int axis : {0, 1, 2})
        require_on_gpu(op, {x}, {.attrs = {attr("axis", axis), attr("select_last_index", last)}}, 0);
      require_on_gpu(op, {ties}, {.attrs = {attr("axis", 1), attr("keepdims", 0), attr("select_last_index", last)}}, 0);
      require_on_gpu(op, {counting({4, 3}, DType::kI64)}, {.attrs = {attr("select_last_index", last)}}, 0);
    }
}

TEST_CASE("the first elements of an axis on a GPU, with their places") {
  const Tensor x = uniform({3, 7, 200}, -9, 9), ties = tensor({2, 6}, {1, 3, 3, 0, 0, 2, 4, NAN, 4, 1, NAN, 1});
  for (const int largest : {0, 1}) {
    for (const int axis : {0, 1, 2})
      require_on_gpu("TopK", {x, Tensor::ints({3})},
                     {.attrs = {attr("axis", axis), attr("largest", largest)}, .outputs = 2, .fixed = true}, 0);
    require_on_gpu("TopK", {uniform({2, 700}, -9, 9), Tensor::ints({500})},
                   {.attrs = {attr("largest", largest)}, .outputs = 2, .fixed = true}, 0);
    require_on_gpu("TopK", {ties, Tensor::ints({6})},
                   {.attrs = {attr("largest", largest)}, .outputs = 2, .fixed = true}, 0);
  }
  for (const DType type : {DType::kF16, DType::kI32, DType::kU64})
    require_on_gpu("TopK", {uniform({4, 50}, 0, 99, type), Tensor::ints({5})}, {.outputs = 2, .fixed = true}, 0);
}

TEST_CASE("ones at places on a GPU") {
  const Tensor x = uniform({3, 5, 40}, -9, 9);
  for (const int axis : {0, 1, 2}) require_on_gpu("Hardmax", {x}, {.attrs = {attr("axis", axis)}}, 0);
  require_on_gpu("Hardmax", {x}, {.opset = 11}, 0);
  require_on_gpu("Hardmax", {tensor({3, 3}, {NAN, 1, 2, 0, NAN, 2, NAN, NAN, NAN})}, {}, 0);
  require_on_gpu("Hardmax", {uniform({3, 5}, -9, 9, DType::kF16)}, {}, 0);
  for (const int axis : {0, 1, -1}) {
    const OpOptions options{.attrs = {attr("axis", axis)}, .fixed = true};
    require_on_gpu("OneHot",
                   {tensor({2, 3}, {0, 3, -1, 2, 7, -9}, DType::kI64), Tensor::ints({4}), tensor({2}, {5, 7})}, options,
                   0);
  }
}

}  // namespace mlopt::test
