#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_identity;
using test::declined;
using test::rewritten;

TEST_CASE("Identity goes, also before an output and in bodies") {
  CHECK(rewritten(eliminate_identity, "g (double[N] x) => (double[N] y) { a = Identity (x)  y = Relu (a) }") == "Relu");
  CHECK(rewritten(eliminate_identity, "g (double[N] x) => (double[N] y) { a = Relu (x)  y = Identity (a) }") == "Relu");
  CHECK(rewritten(eliminate_identity, R"(
    g (double[N] x, bool c) => (double[N] y) {
      a = Identity (x)
      y = If (c) <then_branch = t () => (double[N] p) { b = Neg (a)  p = Identity (b) },
                  else_branch = e () => (double[N] q) { q = Relu (a) }>
    })") == "If[Neg][Relu]");
}

TEST_CASE("Identity stays where it gives an output its name") {
  const std::string reason = "it gives an output of the graph its name";
  CHECK(declined(eliminate_identity, "g (double[N] x) => (double[N] y) { y = Identity (x) }") == reason);
  CHECK(declined(eliminate_identity, "g (double[N] x, double[2] C) => (double[2] y) { y = Identity (C) }") == reason);
  CHECK(declined(eliminate_identity,
                 "g (double[N] x) => (double[N] y, double[N] z) { y = Relu (x)  z = Identity (y) }") == reason);
}

TEST_CASE("an Identity with more outputs than it has stays") {
  CHECK(declined(eliminate_identity, "g (double[N] x) => (double[N] y) { a, b = Identity (x)  y = Add (a, b) }") ==
        "it has more outputs than the operator");
}
