#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("the places of what is not 0, row by row of the axes") {
  for (const DType type : {DType::kBool, DType::kU8, DType::kF32, DType::kI32, DType::kI64})
    for (const Dims& dims : {Dims{50}, {7, 9}, {3, 1, 21}, {2, 3, 4, 37}}) {
      INFO(to_string(dims));
      // Integers from 0 to 2 and numbers of which some are cut off to 0.
      Tensor x = uniform(dims, 0, 2, type == DType::kF32 ? DType::kI32 : type);
      if (type == DType::kF32) x = cast(x, DType::kF32);
      require_as_reference("NonZero", {x}, {}, 0);
    }
}

TEST_CASE("none, all, and what is no number") {
  require_as_reference("NonZero", {tensor({2, 9}, std::vector<double>(18, 0), DType::kBool)}, {}, 0);
  require_as_reference("NonZero", {tensor({2, 9}, std::vector<double>(18, 1), DType::kBool)}, {}, 0);
  require_as_reference("NonZero", {tensor({6}, {0, -0.0, NAN, INFINITY, 1e-45, 1})}, {}, 0);
}

TEST_CASE("scalars, tensors without elements and other types are left to the reference") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  for (const Tensor& x : {tensor({}, {3}), Tensor(DType::kF32, {2, 0}), tensor({3}, {0, 1, 2}, DType::kF64)})
    require_close(run_op("NonZero", {x}, {.backend = cpu.get()}), run_op("NonZero", {x}), 0);
}

}  // namespace mlopt::test
