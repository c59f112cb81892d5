#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_double_negation;
using test::declined;
using test::rewritten;

TEST_CASE("Neg of Neg and Not of Not go") {
  CHECK(rewritten(eliminate_double_negation,
                  "g (double[N] x) => (double[N] y) { a = Neg (x)  b = Neg (a)  y = Relu (b) }") == "Relu");
  CHECK(rewritten(eliminate_double_negation,
                  "g (bool[N] x, bool[N] z) => (bool[N] y) { a = Not (x)  b = Not (a)  y = And (b, z) }") == "And");
}

TEST_CASE("the first negation stays for others") {
  CHECK(rewritten(eliminate_double_negation,
                  "g (double[N] x) => (double[N] y, double[N] a) { a = Neg (x)  b = Neg (a)  y = Relu (b) }") ==
        "Neg Relu");
}

TEST_CASE("one negation stays") {
  CHECK(declined(eliminate_double_negation, "g (double[N] x) => (double[N] y) { a = Abs (x)  y = Neg (a) }").empty());
}
