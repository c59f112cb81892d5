#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_transpose;
using test::declined;
using test::rewritten;

TEST_CASE("Transpose that leaves the axes in order goes") {
  CHECK(rewritten(eliminate_nop_transpose, R"(g (double[N,3,4] x) => (double[N,3,4] y)
    { a = Transpose <perm = [0, 1, 2]> (x)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_nop_transpose, "g (double[N] x) => (double[N] y) { a = Transpose (x)  y = Relu (a) }") ==
        "Relu");
}

TEST_CASE("Transpose that moves axes stays") {
  const std::string reason = "it moves axes";
  CHECK(declined(eliminate_nop_transpose,
                 "g (double[2,3] x) => (double[3,2] y) { y = Transpose <perm = [1, 0]> (x) }") == reason);
  CHECK(declined(eliminate_nop_transpose, "g (double[2,3] x) => (double[3,2] y) { y = Transpose (x) }") == reason);
}
