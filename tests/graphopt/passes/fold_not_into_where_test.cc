#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_not_into_where;
using test::declined;
using test::rewritten;

TEST_CASE("Where swaps its operands in place of a Not") {
  CHECK(rewritten(fold_not_into_where, R"(g (bool[N] c, double[N] x, double[1] z) => (double[N] y)
    { n = Not (c)  y = Where (n, x, z) })") == "Where");
  CHECK(rewritten(fold_not_into_where, R"(g (bool[N] c, double[N] x, double[1] z) => (double[N] y, bool[N] n)
    { n = Not (c)  y = Where (n, x, z) })") == "Not Where");
}

TEST_CASE("a Not among the operands stays") {
  CHECK(declined(fold_not_into_where, R"(g (bool[N] c, bool[N] x) => (bool[N] y)
    { n = Not (x)  y = Where (c, n, x) })")
            .empty());
}
