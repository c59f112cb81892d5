#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

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

}  // namespace mlopt::test
