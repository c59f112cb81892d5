#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_common_shapes;
using test::declined;
using test::rewritten;

TEST_CASE("one free dimension is taken from one place") {
  CHECK(rewritten(eliminate_common_shapes, R"(g (double[N,3] x, double[3,N] z) => (double[M,1] p, double[1,M] q)
    <int64[1] one = {1}, int64 two = {2}>
    { n = Shape <start = 0, end = 1> (x)  n2 = Mul (n, two)  m = Shape <start = 1, end = 2> (z)  m2 = Mul (m, two)
      s = Concat <axis = 0> (n2, one)  t = Concat <axis = 0> (one, m2)
      p = ConstantOfShape (s)  q = ConstantOfShape (t) })") ==
        "Shape Mul Concat Concat ConstantOfShape ConstantOfShape");
}

TEST_CASE("other dimensions, other shapes, other types and other results stay") {
  CHECK(declined(eliminate_common_shapes, R"(g (double[N,M] x) => (int64[1] p, int64[1] q)
    { n = Shape <start = 0, end = 1> (x)  m = Shape <start = 1, end = 2> (x)  p = Neg (n)  q = Abs (m) })")
            .empty());
  CHECK(declined(eliminate_common_shapes, R"(g (double[N] x) => (int64[1] p, int64 q, int32[1] r)
    <int64 zero = {0}> { n = Shape (x)  m = Gather (n, zero)  i = Cast <to = 6> (n)  p = Neg (n)  q = Neg (m)  r = Neg (i) })")
            .empty());
}
