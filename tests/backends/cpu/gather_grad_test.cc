#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions options(int axis, const Dims& shape) {
  return {.attrs = {attr("axis", axis), {"shape", shape, {}}}, .domain = "mlopt"};
}

}  // namespace

TEST_CASE("the gradient of Gather gives what the reference gives") {
  for (const DType type : {DType::kI32, DType::kI64})
    for (const int axis : {-3, -2, -1, 0, 1, 2}) {
      const Dims shape{4, 5, 6};
      const Tensor places = tensor({2, 3}, {0, -1, 3, 1, 1, -4}, type);
      Dims dims = shape;
      const auto at = dims.begin() + (axis + 3) % 3;
      dims.insert(dims.erase(at), {2, 3});
      INFO("axis " << axis);
      require_as_reference("GatherGrad", {places, uniform(dims, -1, 1)}, options(axis, shape));
    }
  // Many threads, rows that are taken often, and one that is not there.
  Tensor often = uniform({3, 700}, -900, 899, DType::kI64);
  often.mutable_data<int64_t>()[5] = 900;
  for (const int64_t width : {1, 70, 131})
    require_as_reference("GatherGrad", {often, uniform({3, 700, width}, -1, 1)}, options(0, {900, width}));
  require_as_reference("GatherGrad", {tensor({}, {-2}, DType::kI64), uniform({4}, -1, 1)}, options(0, {3, 4}));
}

TEST_CASE("the gradient of Gather adds NaN and infinities where they belong") {
  const Tensor dy = tensor({3, 2}, {NAN, 1, INFINITY, 2, -INFINITY, 3});
  require_as_reference("GatherGrad", {tensor({3}, {0, 2, 2}, DType::kI64), dy}, options(0, {4, 2}));
}

}  // namespace mlopt::test
