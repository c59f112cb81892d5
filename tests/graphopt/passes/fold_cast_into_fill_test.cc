#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_cast_into_fill;
using test::declined;
using test::rewritten;

TEST_CASE("ConstantOfShape gives the type that is wanted") {
  CHECK(rewritten(fold_cast_into_fill, R"(g (int64[1] s) => (int64[N] y)
    { f = ConstantOfShape <value = float[1] {2.5}> (s)  y = Cast <to = 7> (f) })") == "ConstantOfShape");
  CHECK(rewritten(fold_cast_into_fill, R"(g (int64[1] s) => (bool[N] y)
    { f = ConstantOfShape (s)  y = Cast <to = 9> (f) })") == "ConstantOfShape");
}

TEST_CASE("texts, and values that others read, stay") {
  CHECK(declined(fold_cast_into_fill, R"(g (int64[1] s) => (string[N] y)
    { f = ConstantOfShape (s)  y = Cast <to = 8> (f) })") == "it casts to another kind");
  CHECK(declined(fold_cast_into_fill, R"(g (int64[1] s) => (int64[N] y, float[N] f)
    { f = ConstantOfShape (s)  y = Cast <to = 7> (f) })")
            .find("used elsewhere") != std::string::npos);
}

TEST_CASE("types that ConstantOfShape lacks stay behind a Cast") {
  const std::string fill = "g (int64[1] s) => (bfloat16[N] y) { f = ConstantOfShape (s)  y = Cast <to = 16> (f) }";
  CHECK(declined(fold_cast_into_fill, fill, 19) == "ConstantOfShape has bfloat16 from opset 20 on");
  CHECK(declined(fold_cast_into_fill,
                 "g (int64[1] s) => (float8e4m3fn[N] y) { f = ConstantOfShape (s)  y = Cast <to = 17> (f) }") ==
        "it casts to another kind");
}
