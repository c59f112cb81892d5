#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("the seeded dropout on a GPU drops what the reference drops") {
  const Tensor keys = Tensor::ints({4, -5, 6, 7, 8});
  for (const auto& [dims, axis] :
       {std::pair<Dims, int>{{4, 6}, 0}, {{3, 8, 7}, 1}, {{5, 7, 4}, 2}, {{5, 3}, -1}, {{4, 3001}, 0}})
    require_on_gpu("SeededDropout", {uniform(dims, -1, 1), keys},
                   {.attrs = {attr("axis", axis), attr("ratio", 0.3f), attr("node", 2)}, .domain = "mlopt"}, 1e-6);
  const std::vector<double> values = {NAN, INFINITY, -INFINITY, 1, NAN, INFINITY, -INFINITY, 2, NAN, INFINITY, -1, NAN};
  require_on_gpu("SeededDropout", {tensor({2, 6}, values), Tensor::ints({4, 5, 6})},
                 {.attrs = {attr("axis", 0), attr("ratio", 0.5f)}, .domain = "mlopt"});
}

TEST_CASE("seeded numbers on a GPU are those of the reference") {
  for (const char* op : {"SeededUniform", "SeededNormal"})
    require_on_gpu(
        op, {uniform({40, 90}, -1, 1), Tensor::ints({4, -5})},
        {.attrs = {attr("node", 2), {"type0", Type::tensor(DType::kF32, Dims{40, 90}), {}}}, .domain = "mlopt"}, 2e-6);
}

}  // namespace mlopt::test
