#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_expand;
using test::declined;
using test::rewritten;

TEST_CASE("Expand and Tile to the shape that a value has go") {
  CHECK(rewritten(eliminate_nop_expand, R"(g (double[N,4] x) => (double[N,4] y)
    <int64[1] s = {1}> { a = Expand (x, s)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_nop_expand, R"(g (double[N,4] x) => (double[N,4] y)
    { s = Shape (x)  a = Expand (x, s)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_nop_expand, R"(g (double[3,4] x) => (double[3,4] y)
    <int64[2] s = {1, 1}> { a = Tile (x, s)  y = Relu (a) })") == "Relu");
}

TEST_CASE("Expand and Tile that may change the shape stay") {
  const std::string reason = "it may change the shape";
  CHECK(declined(eliminate_nop_expand, R"(g (double[N,1] x) => (double[N,4] y)
    <int64[1] s = {4}> { y = Expand (x, s) })") == reason);
  CHECK(declined(eliminate_nop_expand, R"(g (double[4] x) => (double[1,4] y)
    <int64[2] s = {1, 4}> { y = Expand (x, s) })") == reason);
  CHECK(declined(eliminate_nop_expand, "g (double[N] x, int64[1] s) => (double[M] y) { y = Expand (x, s) }") == reason);
  CHECK(declined(eliminate_nop_expand, "g (double[N] x) => (double[M] y) <int64[1] s = {2}> { y = Tile (x, s) }") ==
        reason);
}

TEST_CASE("an Expand that is an error stays one") {
  CHECK(declined(eliminate_nop_expand, R"(g (double[3,2] x) => (double[3,2] y)
    <int64[2] s = {7, 2}> { a = Expand (x, s)  y = Relu (a) })") == "it does not broadcast");
}
