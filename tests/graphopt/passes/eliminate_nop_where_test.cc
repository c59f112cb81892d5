#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_where;
using test::declined;
using test::rewritten;

TEST_CASE("Where that always chooses the same goes") {
  CHECK(rewritten(eliminate_nop_where,
                  "g (bool[1] c, double[N] x) => (double[N] y) { a = Where (c, x, x)  y = Neg (a) }") == "Neg");
  CHECK(rewritten(eliminate_nop_where, R"(g (double[N] x, double[1] z) => (double[N] y) <bool[1] c = {1}>
    { a = Where (c, x, z)  y = Neg (a) })") == "Neg");
}

TEST_CASE("Where that broadcasts, by a computed condition, or that chooses both, stays") {
  CHECK(declined(eliminate_nop_where, "g (bool[N] c, double[1] x) => (double[N] y) { y = Where (c, x, x) }") ==
        "it may broadcast");
  CHECK(declined(eliminate_nop_where,
                 "g (double[N] x, double[1] z) => (double[N] y) <bool[1] c = {0}> { y = Where (c, x, z) }") ==
        "it may broadcast");
  CHECK(
      declined(eliminate_nop_where, "g (bool c, double[N] x, double[N] z) => (double[N] y) { y = Where (c, x, z) }") ==
      "its condition is not constant");
  CHECK(declined(eliminate_nop_where,
                 "g (double[2] x, double[2] z) => (double[2] y) <bool[2] c = {0, 1}> { y = Where (c, x, z) }") ==
        "its condition chooses from both");
}
