#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::materialize_expand_shape;
using test::declined;
using test::rewritten;

TEST_CASE("Expand to sizes that are known or its input's takes a constant") {
  CHECK(rewritten(materialize_expand_shape, R"(g (double[N,1] x) => (double[2,N,5] y)
    <int64[1] two = {2}, int64[1] five = {5}>
    { n = Shape <start = 0, end = 1> (x)  s = Concat <axis = 0> (two, n, five)  y = Expand (x, s) })") == "Expand");
}

TEST_CASE("Expand to a free dimension of another value stays") {
  CHECK(declined(materialize_expand_shape, R"(g (double[1] x, double[N] z) => (double[N] y)
    { s = Shape (z)  y = Expand (x, s) })") == "a dimension of its result is neither known nor that of its input");
  CHECK(declined(materialize_expand_shape, "g (double[1] x, int64[K] s) => (double[N] y) { y = Expand (x, s) }") ==
        "a dimension of its result is neither known nor that of its input");
  CHECK(declined(materialize_expand_shape, "g (double[1] x) => (double[2] y) <int64[1] s = {2}> { y = Expand (x, s) }")
            .empty());
}
