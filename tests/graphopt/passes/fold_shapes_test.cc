#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_shapes;
using test::declined;
using test::rewritten;

TEST_CASE("shape arithmetic that free dimensions do not reach is computed") {
  CHECK(rewritten(fold_shapes, R"(g (double[N,12,64] x) => (double[N,768] y)
    <int64 one = {1}, int64 two = {2}, int64[1] open = {-1}, int64[1] zero = {0}> {
      s = Shape (x)
      h = Gather (s, one)
      d = Gather (s, two)
      hd = Mul (h, d)
      last = Unsqueeze (hd, zero)
      shape = Concat <axis = 0> (open, last)
      y = Reshape (x, shape)
    })") == "Reshape");
  CHECK(rewritten(fold_shapes, R"(g (double[2,3] x) => (double[2,3] y)
    { s = Shape (x)  t = Cast <to = 11> (s)  p = ReduceProd <keepdims = 0> (t)  y = Mul (x, p) })") ==
        "Cast ReduceProd Mul");
}

TEST_CASE("pads whose rows are turned around stay in the order of their axes") {
  CHECK(rewritten(fold_shapes, R"(g (double[3,5] x) => (double[P,Q] y)
    <int64[4] pads = {0, 2, 0, 1}, int64[2] grid = {2, 2}, int64[1] last = {-1}, int64[1] zero = {0},
     int64[1] least = {-9223372036854775808}> {
      rows = Reshape (pads, grid)
      turned = Slice (rows, last, least, zero, last)
      columns = Transpose <perm = [1, 0]> (turned)
      flat = Reshape (columns, last)
      y = Pad <mode = "reflect"> (x, flat)
    })") == "Slice Transpose Reshape Pad");
}

TEST_CASE("what depends on a free dimension stays") {
  CHECK(declined(fold_shapes, R"(g (double[N,3] x) => (double[M,K] y) <int64 zero = {0}, int64[1] three = {3}>
    { s = Shape <end = 1> (x)  t = Concat <axis = 0> (three, s)  y = Reshape (x, t) })")
            .empty());
}

TEST_CASE("an output keeps its node") {
  CHECK(declined(fold_shapes, "g (double[2,3] x) => (int64[2] y) { y = Shape (x) }").empty());
}
