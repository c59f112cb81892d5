#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::constant_to_initializer;
using test::declined;
using test::rewritten;

TEST_CASE("Constant in any form becomes an initializer, in bodies too") {
  CHECK(rewritten(constant_to_initializer, R"(g (double[2] x, bool c) => (double[2] y) {
    a = Constant <value = double[2] {1, 2}> ()
    b = Constant <value_ints = [2]> ()
    r = Reshape (x, b)
    s = Add (r, a)
    y = If (c) <then_branch = t () => (double[2] p) { k = Constant <value = double[1] {3}> ()  p = Mul (s, k) },
                else_branch = e () => (double[2] q) { q = Sub (s, a) }>
  })") == "Reshape Add If[Mul][Sub]");
}

TEST_CASE("the initializer keeps the name") {
  Model model =
      test::fixture("g (double[2] x) => (double[2] y) { a = Constant <value = double[2] {1, 2}> ()  y = Add (x, a) }");
  run_pass(model, constant_to_initializer, test::pass_context());
  CHECK(model.graph->find("a")->is_initializer());
}

TEST_CASE("Constant stays where it gives an output its name") {
  CHECK(declined(constant_to_initializer,
                 "g (double[2] x) => (double[2] y) { y = Constant <value = double[2] {1, 2}> () }") ==
        "it is an output of the graph");
}
