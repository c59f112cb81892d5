#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::simplify_pow;
using test::declined;
using test::rewritten;

TEST_CASE("powers that have an operator of their own become that") {
  CHECK(rewritten(simplify_pow, "g (double[N] x) => (double[N] y) <double c = {2}> { y = Pow (x, c) }") == "Mul");
  CHECK(rewritten(simplify_pow, "g (double[N] x) => (double[N] y) <float[1] c = {-1}> { y = Pow (x, c) }") ==
        "Reciprocal");
  CHECK(rewritten(simplify_pow,
                  "g (double[N] x) => (double[N] y) <double c = {0.5}> { a = Exp (x)  y = Pow (a, c) }") == "Exp Sqrt");
  CHECK(rewritten(simplify_pow, R"(g (double[N,3] x) => (double[N,1] y) <double c = {0.5}, int64[1] axes = {1}>
    { a = Mul (x, x)  s = ReduceSum (a, axes)  y = Pow (s, c) })") == "Mul ReduceSum Sqrt");
}

TEST_CASE("other powers, of what may be negative, of integers and in normalizations, stay") {
  const std::string none = "its exponent has no operator of its own";
  CHECK(declined(simplify_pow, "g (double[N] x) => (double[N] y) <double c = {3}> { y = Pow (x, c) }") == none);
  CHECK(declined(simplify_pow, "g (double[N] x) => (double[N] y) <double c = {0.5}> { y = Pow (x, c) }") == none);
  CHECK(declined(simplify_pow, "g (int64[N] x) => (int64[N] y) <int64 c = {2}> { y = Pow (x, c) }") ==
        "its elements are no floats");
  CHECK(declined(simplify_pow, "g (double[N] x) => (double[N] y) <double[2] c = {2, 2}> { y = Pow (x, c) }") ==
        "its exponent is not one number");
  CHECK(declined(simplify_pow,
                 "g (double[N,3] x) => (double[N,1] y) <double c = {2}, int64[1] a = {1}> { s = Pow (x, c)  y = "
                 "ReduceMean (s, a) }") == "runtimes look for a power in normalizations");
}
