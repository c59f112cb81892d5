#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_dead_code;
using test::declined;
using test::rewritten;

TEST_CASE("nodes that no output needs go, with the nodes and initializers that only they need") {
  const Model source = test::fixture(R"(g (double[N] x, double[1] W) => (double[N] y)
    { a = Exp (x)  b = Mul (a, W)  c = Neg (b)  y = Relu (x) })");
  CHECK(rewritten(eliminate_dead_code, source) == "Relu");
  CHECK(rewritten(eliminate_dead_code, R"(g (double[N] x, bool c) => (double[N] y) {
    used = Neg (x)
    y = If (c) <then_branch = t () => (double[N] p) { a = Exp (used)  p = Relu (x) },
                else_branch = e () => (double[N] q) { q = Abs (x) }>
  })") == "If[Relu][Abs]");
}

TEST_CASE("what a body captures, an output names or has no output at all stays") {
  CHECK(declined(eliminate_dead_code, R"(g (double[N] x, bool c) => (double[N] y, double[N] z) {
    z = Exp (x)
    used = Neg (x)
    y = If (c) <then_branch = t () => (double[N] p) { p = Relu (used) },
                else_branch = e () => (double[N] q) { q = Abs (x) }>
  })")
            .empty());
}
