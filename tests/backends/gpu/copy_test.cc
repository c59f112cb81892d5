#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

using Ints = std::vector<int64_t>;

TEST_CASE("transposes on a GPU") {
  const Tensor x = counting({2, 3, 4, 5});
  for (const Ints& perm : {Ints{0, 2, 1, 3}, Ints{3, 2, 1, 0}, Ints{0, 3, 1, 2}, Ints{1, 0, 2, 3}})
    require_on_gpu("Transpose", {x}, {.attrs = {attr("perm", perm)}}, 0);
  require_on_gpu("Transpose", {counting({7, 1, 5}, DType::kU8)}, {}, 0);
  require_on_gpu("Transpose", {counting({6, 4}, DType::kI64)}, {}, 0);
  require_on_gpu("Transpose", {counting({6, 4}, DType::kF16)}, {}, 0);
}

TEST_CASE("slices, splits and concatenations on a GPU") {
  const auto slice = [](const Tensor& x, const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
    require_on_gpu("Slice", {x, Tensor::ints(starts), Tensor::ints(ends), Tensor::ints(axes), Tensor::ints(steps)},
                   {.fixed = true}, 0);
  };
  const Tensor x = counting({4, 6, 5});
  slice(x, {1}, {3}, {0}, {1});  // a view
  slice(x, {1, -2}, {3, 100}, {1, 2}, {1, 1});
  slice(x, {-1}, {-100}, {1}, {-2});
  require_on_gpu("Split", {x, Tensor::ints({1, 3})}, {.attrs = {attr("axis", 0)}, .outputs = 2, .fixed = true}, 0);
  require_on_gpu("Split", {x}, {.attrs = {attr("axis", 1), attr("num_outputs", 3)}, .outputs = 3}, 0);
  require_on_gpu("Concat", {x, counting({4, 1, 5}), x}, {.attrs = {attr("axis", 1)}}, 0);
  require_on_gpu("Concat", {x, x}, {.attrs = {attr("axis", 0)}}, 0);
}

TEST_CASE("repetitions and blocks on a GPU") {
  require_on_gpu("Expand", {counting({3, 1}), Tensor::ints({2, 3, 4})}, {.fixed = true}, 0);
  require_on_gpu("Tile", {counting({2, 3}), Tensor::ints({2, 2})}, {.fixed = true}, 0);
  for (const char* mode : {"DCR", "CRD"})
    require_on_gpu("DepthToSpace", {counting({2, 12, 3, 5})}, {.attrs = {attr("blocksize", 2), attr("mode", mode)}}, 0);
  require_on_gpu("SpaceToDepth", {counting({2, 3, 4, 6})}, {.attrs = {attr("blocksize", 2)}}, 0);
}

}  // namespace mlopt::test
