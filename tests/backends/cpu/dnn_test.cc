#include "backends/cpu/dnn.h"

#include "tests/support/catch.h"

namespace mlopt::cpu {

TEST_CASE("element types and scalars are described as oneDNN has them") {
  REQUIRE(elem_of(DType::kU8) == Elem::u8);
  REQUIRE(!elem_of(DType::kF64));
  REQUIRE(!elem_of(DType::kI64));
  REQUIRE(plain(DType::kF32, {}).get_dims() == Dims{1});
  REQUIRE(plain(DType::kF32, {2, 3}).get_strides() == Dims{3, 1});
}

}  // namespace mlopt::cpu
