#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_reshape;
using test::declined;
using test::rewritten;

TEST_CASE("Reshape and Flatten to the shape that a value has go") {
  CHECK(rewritten(eliminate_nop_reshape, R"(g (double[2,3] x) => (double[2,3] y)
    <int64[2] s = {2, 3}> { a = Reshape (x, s)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_nop_reshape, "g (double[N,3] x) => (double[N,3] y) { a = Flatten (x)  y = Relu (a) }") ==
        "Relu");
}

TEST_CASE("free dimensions are compared by name, and one may be open") {
  CHECK(rewritten(eliminate_nop_reshape, R"(g (double[N,3] x) => (double[N,3] y)
    <int64[2] s = {-1, 3}> { a = Reshape (x, s)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_nop_reshape, R"(g (double[N,M] x) => (double[N,M] y)
    <int64[2] s = {0, -1}> { a = Reshape (x, s)  y = Relu (a) })") == "Relu");
  const std::string reason = "it may change the shape";
  CHECK(declined(eliminate_nop_reshape, R"(g (double[N,M] x, int64[2] s) => (double[P,Q] y)
    { y = Reshape (x, s) })") == reason);
  CHECK(declined(eliminate_nop_reshape, R"(g (double[N,6] x) => (double[P,3] y)
    <int64[2] s = {-1, 3}> { y = Reshape (x, s) })") == reason);
  CHECK(declined(eliminate_nop_reshape, "g (double[2,3,4] x) => (double[2,12] y) { y = Flatten (x) }") == reason);
}

TEST_CASE("an empty tensor says nothing by its count") {
  CHECK(declined(eliminate_nop_reshape, R"(g (double[0,M] x, int64[2] s) => (double[0,Q] y)
    { y = Reshape <allowzero = 1> (x, s) })") == "it may change the shape");
}
