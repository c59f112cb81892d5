#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_resize;
using test::declined;
using test::rewritten;

TEST_CASE("Resize by one, or to the size that a value has, goes") {
  CHECK(rewritten(eliminate_nop_resize, R"(g (double[N,2,3,H] x) => (double[N,2,3,H] y) <float[4] s = {1, 1, 1, 1}>
    { a = Resize <mode = "linear"> (x, , s)  y = Neg (a) })") == "Neg");
  CHECK(rewritten(eliminate_nop_resize, R"(g (double[1,2,3,4] x) => (double[1,2,3,4] y) <int64[4] s = {1, 2, 3, 4}>
    { a = Resize <mode = "cubic", coordinate_transformation_mode = "align_corners"> (x, , , s)  y = Neg (a) })") ==
        "Neg");
  CHECK(rewritten(eliminate_nop_resize, R"(g (float[N,2,3,4] x) => (float[N,2,3,4] y) <float[4] s = {1, 1, 1, 1}>
    { a = Upsample (x, s)  y = Neg (a) })",
                  9) == "Neg");
}

TEST_CASE("Resize that changes the size, keeps it by another scale, or moves elements, stays") {
  const auto scaled = [](const std::string& scale, const std::string& attrs = "") {
    return "g (double[N,2,3,3] x) => (double[N,2,3,K] y) <float[4] s = {1, 1, 1, " + scale + "}> { y = Resize " +
           attrs + " (x, , s) }";
  };
  CHECK(declined(eliminate_nop_resize, scaled("2")) == "it may change the size");
  CHECK(declined(eliminate_nop_resize, scaled("1.2")) == "it may change the size");
  CHECK(declined(eliminate_nop_resize, scaled("1", "<coordinate_transformation_mode = \"tf_crop_and_resize\">")) ==
        "it takes elements from other places");
  CHECK(declined(eliminate_nop_resize, scaled("1", "<antialias = 1>")) == "it filters");
}
