#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_reciprocal;
using test::declined;
using test::rewritten;

TEST_CASE("Mul and Div take the place of Reciprocal") {
  CHECK(rewritten(fold_reciprocal, R"(g (double[N,3] x, double[3] z) => (double[N,3] y)
    { a = Abs (z)  b = Exp (a)  r = Reciprocal (b)  y = Mul (r, x) })") == "Abs Exp Div");
  CHECK(rewritten(fold_reciprocal, R"(g (double[N] x, double[N] z) => (double[N] y)
    { e = Exp (z)  r = Reciprocal (e)  y = Div (x, r) })") == "Exp Mul");
  CHECK(rewritten(fold_reciprocal, R"(g (double[N] z) => (double[N] y) <double one = {1}>
    { e = Exp (z)  y = Div (one, e) })") == "Exp Reciprocal");
}

TEST_CASE("a Reciprocal that others read, another number, and one that adds axes stay") {
  CHECK(declined(fold_reciprocal,
                 "g (double[N] x, double[N] z) => (double[N] y, double[N] r) { r = Reciprocal (z)  y = Mul (x, r) }")
            .find("used elsewhere") != std::string::npos);
  CHECK(declined(fold_reciprocal, "g (double[N] z) => (double[N] y) <double c = {2}> { y = Div (c, z) }").empty());
  CHECK(declined(fold_reciprocal, "g (double[N] z) => (double[1,N] y) <double[1,1] c = {1}> { y = Div (c, z) }") ==
        "it may broadcast");
  CHECK(declined(fold_reciprocal, "g (int64[N] z) => (int64[N] y) <int64 c = {1}> { y = Div (c, z) }") ==
        "its elements are no floats");
}
