#include "backends/cpu/row_product.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {

TEST_CASE("a row times a packed matrix is added up") {
  for (const int64_t depth : {1, 3, 8, 21, 130})
    for (const int64_t columns : {1, 7, 8, 9, 16, 24, 31, 32, 33, 100}) {
      INFO(depth << " x " << columns);
      const Tensor a = uniform({1, depth}, -1, 1, DType::kF32, 1), b = uniform({depth, columns}, -1, 1, DType::kF32, 2);
      const Tensor c = uniform({1, columns}, -1, 1, DType::kF32, 3);
      const cpu::PackedMatrix packed({b.data<float>(), columns, 1}, depth, columns);
      Tensor sum = uniform({1, columns}, -1, 1, DType::kF32, 3);
      cpu::add_row_product(a.data<float>(), packed, sum.mutable_data<float>());
      require_close(sum, run_op("Gemm", {a, b, c}), 1e-5);
    }
}

}  // namespace mlopt::test
