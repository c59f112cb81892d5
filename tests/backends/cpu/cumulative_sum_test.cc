#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("sums along each axis, from either end, with the element or without") {
  for (const DType type : {DType::kF32, DType::kI64, DType::kI32})
    for (const double axis : {0.0, 1.0, 2.0, -1.0})
      for (const int64_t exclusive : {0, 1})
        for (const int64_t reverse : {0, 1}) {
          const OpOptions options{.attrs = {{"exclusive", exclusive, ""}, {"reverse", reverse, ""}}, .fixed = true};
          for (const Dims& dims : {Dims{3, 4, 5}, {2, 60, 600}, {1, 1, 1}})
            require_as_reference("CumSum", {uniform(dims, -90, 90, type), tensor({}, {axis}, DType::kI64)}, options,
                                 1e-6);
        }
}

TEST_CASE("integers wrap around, long sums of float32 are not rounded on the way") {
  const Tensor axis = tensor({1}, {0}, DType::kI32);
  require_as_reference("CumSum", {tensor({3}, {2147483647, 1, 5}, DType::kI32), axis}, {.fixed = true}, 0);
  require_as_reference("CumSum", {uniform({30000}, 0, 1), axis}, {.fixed = true}, 1e-7);
}

}  // namespace mlopt::test
