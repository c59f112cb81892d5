#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_abs;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& node) {
  return "g (double[N,2] x, double[N,2] z) => (double[P,Q] y) <double two = {2}, double three = {3}, double half = "
         "{0.5}, int64[1] one = {1}> { a = Abs (x)  b = Abs (z)  " +
         node + " }";
}

}  // namespace

TEST_CASE("squares and sums of them have no signs") {
  CHECK(rewritten(fold_abs, graph("y = Mul (a, a)")) == "Mul");
  CHECK(rewritten(fold_abs, graph("y = Pow (a, two)")) == "Pow");
  CHECK(rewritten(fold_abs, graph("y = ReduceL2 (a, one)")) == "ReduceL2");
  CHECK(rewritten(fold_abs, graph("y = ReduceL1 (a, one)")) == "ReduceL1");
  CHECK(rewritten(fold_abs, graph("y = ReduceSumSquare <keepdims = 1> (a, one)")) == "ReduceSumSquare");
}

TEST_CASE("other products, odd powers and sums need Abs") {
  CHECK(declined(fold_abs, graph("y = Mul (a, b)")).empty());
  CHECK(declined(fold_abs, graph("y = Mul (a, x)")).empty());
  CHECK(declined(fold_abs, graph("y = ReduceSum (a, one)")).empty());
  CHECK(declined(fold_abs, graph("y = Pow (a, three)")) == "its exponent is not even");
  CHECK(declined(fold_abs, graph("y = Pow (a, half)")) == "its exponent is not even");
}

TEST_CASE("how a Pow of the first opsets broadcasts is kept") {
  Model model = test::fixture(
      "g (float[2,3] x) => (float[2,3] y) <float[2] c = {2, 4}> { a = Abs (x)  y = Pow <broadcast = 1, axis = 0> (a, "
      "c) "
      "}",
      6);
  REQUIRE(run_pass(model, fold_abs, test::pass_context()).applied == 1);
  CHECK(model.graph->outputs()[0]->producer->attrs.size() == 2);
}
