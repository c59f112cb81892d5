#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {

TEST_CASE("updates of single elements on a GPU, of which the last one stays") {
  const Tensor x = counting({3, 4, 5}), updates = uniform({2, 4, 3}, -9, 9);
  const Tensor places =
      tensor({2, 4, 3}, {0, 1, 2, -1, 0, 2, 1, 1, 1, 0, 2, -3, 2, 2, 0, 1, 0, 2, 1, 0, 1, 0, 2, 1}, DType::kI64);
  for (const int axis : {0, 1, 2}) {
    require_on_gpu("ScatterElements", {x, places, updates}, {.attrs = {attr("axis", axis)}}, 0);
    for (const char* how : {"add", "mul", "min", "max"})
      require_on_gpu("ScatterElements", {x, places, updates}, {.attrs = {attr("axis", axis), attr("reduction", how)}},
                     1e-6);
  }
  require_on_gpu("ScatterElements",
                 {counting({4}, DType::kU8), tensor({3}, {3, -4, 3}, DType::kI32), counting({3}, DType::kU8)}, {}, 0);
}

TEST_CASE("updates by tuples of places on a GPU") {
  const Tensor pairs = tensor({4, 2}, {0, 1, 2, -1, 0, 1, -3, -3}, DType::kI64);
  require_on_gpu("ScatterND", {counting({3, 4, 5}), pairs, uniform({4, 5}, -9, 9)}, {}, 0);
  const Tensor single = tensor({2, 2, 1}, {4, 1, -1, 4}, DType::kI64);
  require_on_gpu("ScatterND", {counting({6}, DType::kI64), single, counting({2, 2}, DType::kI64)}, {}, 0);
  for (const char* how : {"add", "mul", "min", "max"})
    require_on_gpu("ScatterND", {counting({3, 4, 5}), pairs, uniform({4, 5}, -9, 9)},
                   {.attrs = {attr("reduction", how)}});
}

TEST_CASE("pixels go back to where a pool found them on a GPU") {
  const std::vector<Attr> attrs{attr("kernel_shape", std::vector<int64_t>{2, 2}),
                                attr("strides", std::vector<int64_t>{2, 2})};
  const std::vector<Datum> pooled = run_node("MaxPool", {uniform({2, 3, 6, 8}, -1, 1)}, {.attrs = attrs, .outputs = 2});
  require_on_gpu("MaxUnpool", {pooled[0], pooled[1]}, {.attrs = attrs}, 0);
  require_on_gpu("MaxUnpool", {pooled[0], pooled[1], Tensor::ints({2, 3, 7, 9})}, {.attrs = attrs, .fixed = true}, 0);
}

TEST_CASE("pixels that no window can have led to are refused on a GPU") {
  // Without limits, the multiplications wrap around to a picture of 1 x 1.
  const int64_t stride = int64_t{1} << 62;
  const std::vector<Attr> attrs{attr("kernel_shape", std::vector<int64_t>{1, 1}),
                                attr("strides", std::vector<int64_t>{stride, stride})};
  const std::vector<Datum> inputs{counting({1, 1, 5, 5}), Tensor::zeros(DType::kI64, {1, 1, 5, 5})};
  CHECK_THROWS_AS(gpu_on_host()->compile(one_node("MaxUnpool", inputs, {.attrs = attrs}, 2), {})->run(inputs), Error);
}

TEST_CASE("rows of a cache on a GPU") {
  const Tensor cache = counting({2, 3, 5, 4}), rows = uniform({2, 3, 2, 4}, -9, 9), places = Tensor::ints({3, 1});
  require_on_gpu("TensorScatter", {cache, rows, places}, {.opset = 24}, 0);
  require_on_gpu("TensorScatter", {cache, rows}, {.opset = 24}, 0);
  require_on_gpu("TensorScatter", {cache, rows, Tensor::ints({4, 3})},
                 {.attrs = {attr("mode", "circular")}, .opset = 24}, 0);
  require_on_gpu("TensorScatter", {counting({2, 5, 4}), uniform({2, 3, 4}, -9, 9), Tensor::ints({2, 0})},
                 {.attrs = {attr("axis", 1)}, .opset = 24}, 0);
}

TEST_CASE("rows beyond a cache are an error on a GPU") {
  const std::vector<Datum> inputs{counting({1, 5, 4}), counting({1, 2, 4}), Tensor::ints({4})};
  const auto plan = gpu_on_host()->compile(one_node("TensorScatter", inputs, {.opset = 24}, 3), {});
  CHECK_THROWS_AS(plan->run(inputs), Error);
}

TEST_CASE("a circular cache on a GPU has no rows from its length on") {
  const std::vector<Datum> inputs{counting({1, 5, 4}), counting({1, 2, 4}), Tensor::ints({5})};
  const OpOptions options{.attrs = {attr("mode", "circular")}, .opset = 24};
  const auto plan = gpu_on_host()->compile(one_node("TensorScatter", inputs, options, 3), {});
  CHECK_THROWS_AS(plan->run(inputs), Error);
}

}  // namespace mlopt::test
