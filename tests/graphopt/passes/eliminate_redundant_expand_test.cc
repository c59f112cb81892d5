#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_redundant_expand;
using test::declined;
using test::rewritten;

TEST_CASE("Expand before an operator that broadcasts as far goes") {
  CHECK(rewritten(eliminate_redundant_expand, R"(g (double[1,3] x, double[N,3] z) => (double[N,3] y)
    { s = Shape (z)  e = Expand (x, s)  y = Add (e, z) })") == "Add");
  CHECK(rewritten(eliminate_redundant_expand, R"(g (bool[1] c, double[N,3] x, double[3] z) => (double[N,3] y)
    <int64[2] s = {1, 3}> { e = Expand (c, s)  y = Where (e, x, z) })") == "Where");
}

TEST_CASE("Expand that alone gives an axis its size, or may do so, stays") {
  const std::string no = "no operand is expanded as far as the others do";
  CHECK(declined(eliminate_redundant_expand, R"(g (double[1] x, double[1] z) => (double[4] y) <int64[1] s = {4}>
    { e = Expand (x, s)  y = Add (e, z) })") == no);
  CHECK(declined(eliminate_redundant_expand, R"(g (double[1] x, double[N] z, int64[1] s) => (double[M] y)
    { e = Expand (x, s)  y = Add (e, z) })") == no);
  CHECK(
      declined(eliminate_redundant_expand, "g (double[1] x, double[N] z) => (double[N] y) { y = Add (x, z) }").empty());
}

TEST_CASE("matrices that a product repeats by itself are not repeated before") {
  const auto text = [](const std::string& shape) {
    return "g (double[1,4,1] x, double[B,1,N] z) => (double[B,4,N] y) <int64[1] c0 = {0}> { s = Shape <start = 0, end "
           "= "
           "1> (" +
           shape + ")  w = Concat <axis = 0> (s, four1)  e = Expand (x, w)  y = MatMul (e, z) }";
  };
  const auto with = [&](std::string t) { return t.replace(t.find("int64[1] c0"), 0, "int64[2] four1 = {4, 1}, "); };
  CHECK(test::rewritten(graphopt::eliminate_redundant_expand, with(text("z"))) == "MatMul");
  CHECK(
      test::declined(graphopt::eliminate_redundant_expand,
                     "g (double[1,4,1] x, double[1,1,N] z) => (double[3,4,N] y) <int64[3] w = {3, 4, 1}> { e = Expand "
                     "(x, w)  y = MatMul (e, z) }")
          .empty());
}
