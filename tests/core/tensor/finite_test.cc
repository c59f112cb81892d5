#include "core/tensor/finite.h"

#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("numbers are finite where none is NaN or infinite") {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    Tensor x = Tensor::zeros(DType::kF32, {3});
    CHECK(is_finite(cast(x, dtype)));
    for (const float odd : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      x.mutable_data<float>()[2] = odd;
      CHECK(!is_finite(cast(x, dtype)));
    }
  }
  CHECK(is_finite(Tensor::ints({1, 2})));
  CHECK(is_finite(Tensor::zeros(DType::kF32, {0})));
}
