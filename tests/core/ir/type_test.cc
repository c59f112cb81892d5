#include "core/ir/type.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("types are shown as a user would write them") {
  CHECK(to_string(Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), Dim(3), Dim()})) == "float32[N,3,?]");
  CHECK(to_string(Type::tensor(DType::kI64)) == "int64[...]");
  CHECK(to_string(Type::tensor(DType::kI4, Dims{})) == "int4[]");
  CHECK(to_string(Type::sequence(Type::tensor(DType::kBool))) == "sequence(bool[...])");
  CHECK(to_string(Type::optional(Type::sequence(Type::tensor(DType::kF16, Dims{2})))) ==
        "optional(sequence(float16[2]))");
  CHECK(to_string(Type()) == "?");
}

TEST_CASE("static dims need every dimension") {
  CHECK(Type::tensor(DType::kF32, Dims{2, 3}).static_dims() == Dims{2, 3});
  CHECK_FALSE(Type::tensor(DType::kF32, SymDims{Dim(2), Dim::symbol("N")}).static_dims());
  CHECK_FALSE(Type::tensor(DType::kF32).static_dims());
}
