#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_expands;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& y = "double[B,3,4] y") {
  return "g (double[B,5] x, double[1,3,4] C, double[4,4] W, double[4,6] V, double[4] S, double[2,3,4] P) => (" + y +
         ") <int64[3] twice = {2, 1, 1}, int64[1] one = {1}, int64[1] three = {3}, int64[1] four = {4}> { b = Shape "
         "<end = 1> (x)  s = Concat "
         "<axis "
         "= 0> (b, one, one)  " +
         nodes + " }";
}
std::string kept(const std::string& nodes, const std::string& y = "double[B,3,4] y") {
  return declined(push_expands, graph(nodes, y));
}

}  // namespace

TEST_CASE("copies of a constant are made of what is computed of it") {
  CHECK(rewritten(push_expands, graph("c = Expand (C, s)  y = MatMul (c, W)")) == "Shape Concat MatMul Expand");
  CHECK(rewritten(push_expands, graph("c = Expand (C, s)  n = LayerNormalization (c, S)  y = Exp (n)")) ==
        "Shape Concat LayerNormalization Expand Exp");
  CHECK(rewritten(push_expands, graph("c = Expand (C, s)  y = Add (S, c)")) == "Shape Concat Add Expand");
  CHECK(rewritten(push_expands, graph("c = Tile (C, s)  y = MatMul (c, V)", "double[B,3,6] y")) ==
        "Shape Concat MatMul Tile");
}

TEST_CASE("an Expand to lengths keeps them, where these stay") {
  const std::string shape = "t = Concat <axis = 0> (b, three, four)  c = Expand (C, t)  ";
  CHECK(rewritten(push_expands, graph(shape + "y = MatMul (c, W)")) == "Shape Concat MatMul Expand");
  CHECK(kept(shape + "y = MatMul (c, V)", "double[B,3,6] y") == "the shape of the copies is not known");
}

TEST_CASE("what differs between copies, mixes them or is computed with no constant stays") {
  CHECK(kept("c = Expand (C, twice)  y = Mul (c, P)", "double[2,3,4] y") ==
        "the other operand differs between the copies");
  CHECK(kept("c = Expand (C, twice)  y = LayerNormalization (c, P)", "double[2,3,4] y") ==
        "its scale or its bias differs between the copies");
  CHECK(kept("c = Expand (C, s)  y = LayerNormalization <axis = -3> (c, C)") == "it is normalized over its copies");
  CHECK(declined(push_expands, R"(g (double[B,5] x, double[4,4] w, double[1,3,4] C) => (double[B,3,4] y)
    <int64[2] ones = {1, 1}> { b = Shape <end = 1> (x)  s = Concat <axis = 0> (b, ones)  c = Expand (C, s)
      y = MatMul (c, w) })") == "what it is computed with is not constant");
  CHECK(declined(push_expands, R"(g (double[1,3,4] x, double[4,4] W) => (double[2,3,4] y)
    <int64[3] s = {2, 1, 1}> { c = Expand (x, s)  y = MatMul (c, W) })")
            .empty());
}
