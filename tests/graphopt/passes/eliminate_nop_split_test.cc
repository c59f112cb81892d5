#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_split;
using test::declined;
using test::rewritten;

TEST_CASE("Split into one part goes") {
  CHECK(rewritten(eliminate_nop_split,
                  "g (double[N,2] x) => (double[N,2] y) { a = Split <axis = 1, num_outputs = 1> (x)  y = Neg (a) }") ==
        "Neg");
  CHECK(rewritten(eliminate_nop_split, "g (double[N,2] x) => (double[N,2] y) { a = Split <axis = 1> (x)  y = Neg (a) }",
                  11) == "Neg");
}

TEST_CASE("Split into two parts stays") {
  CHECK(declined(eliminate_nop_split, R"(g (double[N,2] x) => (double[N,1] y, double[N,1] z)
    { y, z = Split <axis = 1, num_outputs = 2> (x) })") == "it has several parts");
}
