#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("the seeded dropout gives what the reference gives") {
  const Tensor keys = Tensor::ints({4, -5, 6, 7, 8});
  for (const auto& [dims, axis] : {std::pair<Dims, int>{{4, 6}, 0},
                                   {{3, 8, 7}, 1},
                                   {{5, 7, 4}, 2},
                                   {{5, 3}, -1},
                                   {{4, 30011}, 0}})  // threads begin in the middle of a sample
    require_as_reference("SeededDropout", {uniform(dims, -1, 1), keys},
                         {.attrs = {attr("axis", axis), attr("ratio", 0.3f), attr("node", 2)}, .domain = "mlopt"});
}

TEST_CASE("seeded numbers are those of the reference") {
  for (const char* op : {"SeededUniform", "SeededNormal"})
    for (const Dims& dims : {Dims{4, 6}, Dims{40000}})
      require_as_reference(
          op, {uniform(dims, -1, 1), Tensor::ints({4, -5})},
          {.attrs = {attr("node", 2), {"type0", Type::tensor(DType::kF32, dims), {}}}, .domain = "mlopt"});
}

TEST_CASE("the seeded dropout drops NaN and infinities as any other number") {
  const std::vector<double> values = {NAN, INFINITY, -INFINITY, 1, NAN, INFINITY, -INFINITY, 2, NAN, INFINITY, -1, NAN};
  require_as_reference("SeededDropout", {tensor({2, 6}, values), Tensor::ints({4, 5, 6})},
                       {.attrs = {attr("axis", 0), attr("ratio", 0.5f)}, .domain = "mlopt"});
}

}  // namespace mlopt::test
