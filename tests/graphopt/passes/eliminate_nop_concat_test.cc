#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_concat;
using test::declined;
using test::rewritten;

TEST_CASE("Concat, Sum, Mean, Max and Min of one input go") {
  CHECK(rewritten(eliminate_nop_concat, R"(g (double[N] x) => (double[N] y) {
    a = Concat <axis = 0> (x)  b = Sum (a)  c = Mean (b)  d = Max (c)  e = Min (d)  y = Relu (e)
  })") == "Relu");
}

TEST_CASE("those of two inputs stay") {
  CHECK(declined(eliminate_nop_concat, "g (double[N] x) => (double[M] y) { y = Concat <axis = 0> (x, x) }").empty());
  CHECK(declined(eliminate_nop_concat, "g (double[N] x) => (double[N] y) { y = Sum (x, x) }").empty());
}
