#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_unused_outputs;
using test::declined;
using test::rewritten;

TEST_CASE("optional outputs that nothing reads are omitted") {
  Model model =
      test::fixture(R"(g (double[N,2,4] x) => (double[N,2,3] y) { y, i = MaxPool <kernel_shape = [2]> (x) })");
  REQUIRE(run_pass(model, eliminate_unused_outputs, test::pass_context()).applied == 1);
  CHECK(model.graph->nodes()[0]->outputs().size() == 1);
  CHECK(rewritten(eliminate_unused_outputs, R"(g (double[N,2,4] x) => (double[N,2,3] y)
    { y, i = MaxPool <kernel_shape = [2]> (x) })") == "MaxPool");
}

TEST_CASE("outputs that are read, and those that are not optional, stay") {
  CHECK(declined(eliminate_unused_outputs, R"(g (double[N,2,4] x) => (double[N,2,3] y, int64[N,2,3] i)
    { y, i = MaxPool <kernel_shape = [2]> (x) })")
            .empty());
  CHECK(declined(eliminate_unused_outputs, R"(g (double[N,4] x) => (double[N,2] y)
    { y, z = Split <axis = 1, num_outputs = 2> (x) })")
            .empty());
}
