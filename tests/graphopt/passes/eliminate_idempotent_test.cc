#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_idempotent;
using test::declined;
using test::rewritten;

TEST_CASE("what changes nothing the second time goes") {
  for (const std::string op : {"Relu", "Abs", "Ceil", "Floor", "Round", "Sign"})
    CHECK(rewritten(eliminate_idempotent, "g (double[N] x) => (double[N] y) { a = " + op + " (x)  b = " + op +
                                              " (a)  y = Neg (b) }") == op + " Neg");
  CHECK(rewritten(eliminate_idempotent,
                  "g (double[N] x) => (double[N] y) { a = Floor (x)  b = Round (a)  y = Neg (b) }") == "Floor Neg");
  CHECK(rewritten(eliminate_idempotent,
                  "g (double[N] x) => (double[N] y) { a = Sigmoid (x)  b = Abs (a)  y = Neg (b) }") == "Sigmoid Neg");
}

TEST_CASE("what may change its input stays") {
  CHECK(declined(eliminate_idempotent, "g (double[N] x) => (double[N] y) { a = Tanh (x)  y = Relu (a) }") ==
        "it may change what is before it");
  CHECK(declined(eliminate_idempotent, "g (double[N] x) => (double[N] y) { a = Sign (x)  y = Abs (a) }") ==
        "it may change what is before it");
  CHECK(declined(eliminate_idempotent, "g (double[N] x) => (double[N] y) { a = Exp (x)  y = Sign (a) }") ==
        "it may change what is before it");
}
