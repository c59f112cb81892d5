#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_split_of_concat;
using test::declined;
using test::rewritten;

TEST_CASE("Split into what a Concat joined goes") {
  CHECK(rewritten(eliminate_split_of_concat, R"(g (double[N,1] x, double[N,3] z) => (double[N,1] p, double[N,3] q)
    <int64[2] sizes = {1, 3}> { c = Concat <axis = 1> (x, z)  a, b = Split <axis = -1> (c, sizes)  p = Neg (a)  q = Exp (b) })") ==
        "Neg Exp");
}

TEST_CASE("Split into other sizes, along another axis, or into more parts, stays") {
  CHECK(declined(eliminate_split_of_concat, R"(g (double[N,1] x, double[N,3] z) => (double[N,2] a, double[N,2] b)
    { c = Concat <axis = 1> (x, z)  a, b = Split <axis = 1, num_outputs = 2> (c) })") ==
        "its parts are others than those joined");
  CHECK(declined(eliminate_split_of_concat, R"(g (double[4,2] x, double[4,2] z) => (double[2,4] a, double[2,4] b)
    { c = Concat <axis = 1> (x, z)  a, b = Split <axis = 0, num_outputs = 2> (c) })") ==
        "it splits another axis than the joined one");
  CHECK(declined(eliminate_split_of_concat,
                 R"(g (double[1,2] x, double[1,1] z) => (double[1,1] a, double[1,1] b, double[1,1] d)
    { c = Concat <axis = 1> (x, z)  a, b, d = Split <axis = 1, num_outputs = 3> (c) })") ==
        "its parts are others than those joined");
}
