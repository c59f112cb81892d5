#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::div_to_mul;
using test::declined;
using test::rewritten;

TEST_CASE("a quotient by powers of two becomes a product") {
  CHECK(rewritten(div_to_mul, "g (double[N,2] x) => (double[N,2] y) <double[2] c = {8, -0.5}> { y = Div (x, c) }", 21,
                  0) == "Mul");
}

TEST_CASE("other divisors, integers, and attention, stay") {
  CHECK(declined(div_to_mul, "g (double[N] x) => (double[N] y) <double c = {3}> { y = Div (x, c) }") ==
        "its divisor is no power of two: the product would be rounded in another way");
  CHECK(declined(div_to_mul, "g (double[N] x) => (double[N] y) <double c = {0}> { y = Div (x, c) }") ==
        "its divisor is no power of two: the product would be rounded in another way");
  CHECK(declined(div_to_mul, "g (int64[N] x) => (int64[N] y) <int64 c = {2}> { y = Div (x, c) }") ==
        "its divisor is no small tensor of floats");
  CHECK(declined(div_to_mul,
                 "g (double[N,2] x, double[2,N] z) => (double[N,N] y) <double c = {2}> { p = MatMul (x, z)  y = Div "
                 "(p, c) }") == "runtimes look for a quotient in attention");
  CHECK(declined(div_to_mul, "g (double[N] x, double c) => (double[N] y) { y = Div (x, c) }") == "'c' is not constant");
}

TEST_CASE("how a quotient of the first opsets broadcasts is kept") {
  Model model = test::fixture(
      "g (float[2,3] x) => (float[2,3] y) <float[3] c = {2, 4, 8}> { y = Div <broadcast = 1> (x, c) }", 6);
  REQUIRE(run_pass(model, div_to_mul, test::pass_context()).applied == 1);
  CHECK(model.graph->outputs()[0]->producer->attrs.size() == 1);
}
