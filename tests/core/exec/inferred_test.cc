#include "core/exec/inferred.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a value is known where its type and all its sizes are") {
  Value v;
  CHECK_FALSE(inferred(v));
  v.type = Type::tensor(DType::kF32, Dims{2, 3});
  REQUIRE(inferred(v));
  CHECK(*inferred(v) == TensorDesc{DType::kF32, {2, 3}});
  v.type = Type::tensor(DType::kF32, SymDims{Dim(2), Dim::symbol("N")});
  CHECK_FALSE(inferred(v));
  v.type = Type::tensor(DType::kString, Dims{2});
  CHECK_FALSE(inferred(v));
  v.type = Type::tensor(DType::kUndefined, Dims{2});
  CHECK_FALSE(inferred(v));
}
