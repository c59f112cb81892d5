#include "core/tensor/scaled.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;

TEST_CASE("floats are multiplied in double and keep their type and shape") {
  for (const DType type : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16})
    test::require_close(scaled(test::tensor({2, 2}, {1, -3, 0, 0.5}, type), 0.5),
                        test::tensor({2, 2}, {0.5, -1.5, 0, 0.25}, type), 0);
  // 0.1f squared, rounded once.
  const float tenth = 0.1f;
  const Tensor once = scaled(Tensor::scalar(tenth), static_cast<double>(tenth));
  CHECK(once.data<float>()[0] == tenth * tenth);
  CHECK(scaled(test::tensor({0}, {}), 2).dims() == Dims{0});
}
