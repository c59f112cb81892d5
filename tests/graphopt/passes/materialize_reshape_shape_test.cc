#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::materialize_reshape_shape;
using test::declined;
using test::rewritten;

TEST_CASE("a computed shape with free dimensions becomes a constant") {
  // The attention of exporters: [N, S, 12] -> [N, S, 3, 4].
  CHECK(rewritten(materialize_reshape_shape, R"(g (double[N,S,12] x) => (double[N,S,3,4] y)
    <int64 zero = {0}, int64[1] first = {0}, int64 one = {1}, int64[1] h = {3}, int64[1] d = {4}> {
      s = Shape (x)
      n = Gather (s, zero)
      m = Gather (s, one)
      nn = Unsqueeze (n, first)
      mm = Unsqueeze (m, first)
      shape = Concat <axis = 0> (nn, mm, h, d)
      y = Reshape (x, shape)
    })") == "Reshape");
}

TEST_CASE("zeros that are meant stay zeros, as PyTorch's newer exporter wants it") {
  CHECK(rewritten(materialize_reshape_shape, R"(g (double[N,S,12] x) => (double[N,S,3,4] y)
    <int64[1] h = {3}, int64[1] d = {4}> {
      n = Shape <end = 1> (x)
      m = Shape <start = 1, end = 2> (x)
      shape = Concat <axis = 0> (n, m, h, d)
      y = Reshape <allowzero = 1> (x, shape)
    })") == "Reshape");
  CHECK(rewritten(materialize_reshape_shape, R"(g (double[N,12] x) => (double[M,4] y)
    <int64[1] three = {3}, int64[1] d = {4}> {
      n = Shape <end = 1> (x)  m = Mul (n, three)  shape = Concat <axis = 0> (m, d)
      y = Reshape <allowzero = 1> (x, shape)
    })") == "Reshape");
}

TEST_CASE("it stays where two dimensions are not known, or zeros may be meant") {
  CHECK(
      declined(materialize_reshape_shape, "g (double[N,4] x, int64[2] s) => (double[A,B] y) { y = Reshape (x, s) }") ==
      "more than one dimension of its result is not known");
  CHECK(declined(
            materialize_reshape_shape,
            R"(g (double[N,S,T] x) => (double[N,M] y) <int64[1] first = {0}, int64[1] rest = {1}, int64[1] axis = {0}>
    { n = Shape <end = 1> (x)  st = Shape <start = 1> (x)  m = ReduceProd (st, axis)  s = Concat <axis = 0> (n, m)
      y = Reshape <allowzero = 1> (x, s) })") == "a dimension would not follow from the others where one is zero");
  CHECK(declined(materialize_reshape_shape,
                 "g (double[N,4] x) => (double[M,2] y) <int64[2] s = {-1, 2}> { y = Reshape (x, s) }") ==
        "its shape is constant already");
}
