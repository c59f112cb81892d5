#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("all bits of an integer are turned by an exclusive or") {
  for (const char* type : {"int8", "uint8", "int32", "uint64"}) {
    const std::string t(type);
    CHECK(test::rewritten(lower::bitwise_not, "g (" + t + "[2,3] x) => (" + t + "[2,3] y) { y = BitwiseNot (x) }", 21,
                          0, Target::kKernels) == "BitwiseXor");
  }
}
