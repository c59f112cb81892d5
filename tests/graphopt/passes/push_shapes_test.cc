#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_shapes;
using test::declined;
using test::rewritten;

TEST_CASE("sizes are taken from what a layout is made of") {
  CHECK(rewritten(push_shapes, R"(g (double[B,N,4] x) => (int64[2] y) <int64[1] a = {1}>
    { u = Unsqueeze (x, a)  y = Shape <start = 2> (u) })") == "Shape");
  CHECK(rewritten(push_shapes, R"(g (double[B,N,4] x) => (int64[1] y)
    { t = Transpose <perm = [2, 0, 1]> (x)  y = Shape <start = -1> (t) })") == "Shape");
  CHECK(rewritten(push_shapes, R"(g (double[B,N,4] x) => (int64[2] y) <int64[4] s = {0, 0, 2, 2}>
    { r = Reshape (x, s)  y = Shape <end = 2> (r) })") == "Shape");
}

TEST_CASE("sizes that are in another order, new, or all that the opset can give stay") {
  const std::string other = "they are not known to be sizes of what it is made of";
  CHECK(declined(push_shapes, R"(g (double[B,N,4] x) => (int64[2] y)
    { t = Transpose <perm = [1, 0, 2]> (x)  y = Shape <end = 2> (t) })") == other);
  CHECK(declined(push_shapes, R"(g (double[B,N,4] x) => (int64[2] y) <int64[2] s = {-1, 4}>
    { r = Reshape (x, s)  y = Shape (r) })") == other);
  CHECK(declined(push_shapes, R"(g (double[B,N,4] x) => (int64[0] y)
    { t = Transpose <perm = [1, 0, 2]> (x)  y = Shape <start = 3> (t) })") == "it gives no size");
  CHECK(declined(push_shapes, R"(g (double[B,N] x) => (int64[2] y) <int64[2] s = {0, 0}>
    { r = Reshape (x, s)  y = Shape (r) })",
                 14) == "Shape gives all sizes before opset 15");
}
