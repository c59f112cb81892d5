#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

OpOptions options(int axis, const Dims& shape) {
  return {.attrs = {attr("axis", axis), {"shape", shape, {}}}, .domain = "mlopt"};
}

}  // namespace

TEST_CASE("the gradient of Gather on a GPU") {
  for (const DType type : {DType::kI32, DType::kI64})
    for (const int axis : {0, 1, 2}) {
      const Dims shape{4, 5, 6};
      const Tensor places = tensor({2, 3}, {0, -1, 3, 1, 1, -4}, type);
      Dims dims = shape;
      const auto at = dims.begin() + axis;
      dims.insert(dims.erase(at), {2, 3});
      INFO("axis " << axis);
      require_on_gpu("GatherGrad", {places, uniform(dims, -1, 1)}, options(axis, shape));
    }
  Tensor often = uniform({3, 700}, -90, 89, DType::kI64);  // rows that are taken often, and one that is not there
  often.mutable_data<int64_t>()[5] = 900;
  require_on_gpu("GatherGrad", {often, uniform({3, 700, 7}, -1, 1)}, options(0, {90, 7}));
  require_on_gpu("GatherGrad", {tensor({}, {-2}, DType::kI64), uniform({4}, -1, 1)}, options(0, {3, 4}));
}

}  // namespace mlopt::test
