#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::fixture;
using test::rewritten;

namespace {

/// The shape of the second operand of the only operator after the pass.
Dims shape_after(const std::string& graph) {
  Model model = fixture(graph);
  infer(model);
  REQUIRE(run_pass(model, fusion::shrink_constants, test::pass_context()).applied == 1);
  return model.graph->nodes().front()->input(1)->constant->dims();
}

}  // namespace

TEST_CASE("numbers and rows lose the axes that broadcasting adds itself") {
  CHECK(shape_after("g (double[B,3,H,W] x, double[1,1,1,1] C) => (double[B,3,H,W] y) { y = Mul (x, C) }") == Dims{});
  CHECK(shape_after("g (double[B,N,6] x, double[1,1,6] C) => (double[B,N,6] y) { y = Add (x, C) }") == Dims{6});
  CHECK(rewritten(fusion::shrink_constants,
                  "g (bool[B,N,6] c, double[B,N,6] x, double[1,1,6] A, double[1,1,1] Z) => "
                  "(double[B,N,6] y) { y = Where (c, A, Z) }") == "Where");
}

TEST_CASE("constants keep axes that the result has from them, and those that are longer") {
  const std::string axes = "no other operand is known to have as many axes";
  CHECK(declined(fusion::shrink_constants, "g (double[N] x, double[1,1] C) => (double[1,N] y) { y = Mul (x, C) }") ==
        axes);
  CHECK(declined(fusion::shrink_constants,
                 "g (double[B,3,H,W] x, double[1,3,1,1] C) => (double[B,3,H,W] y) { y = Mul (x, C) }")
            .empty());
  CHECK(declined(fusion::shrink_constants, "g (double[N,6] x, double[6] C) => (double[N,6] y) { y = Mul (x, C) }")
            .empty());
  CHECK(declined(fusion::shrink_constants,
                 "g (double[N,6] x, double[1,6] C) => (double[N,6] y) { y = Mul <broadcast = 1> (x, C) }",
                 6) == "its opset broadcasts in another way");
  CHECK(declined(fusion::shrink_constants, "g (double[N,6] x, double[1,6] c) => (double[N,6] y) { y = Mul (x, c) }")
            .empty());
}

TEST_CASE("Min and Max broadcast one opset later") {
  const std::string text = "g (float[1,3] x, float[1,3] C) => (float[1,3] y) { y = Min (x, C) }";
  CHECK(declined(fusion::shrink_constants, text, 7) == "its opset broadcasts in another way");
  CHECK(rewritten(fusion::shrink_constants, text, 8) == "Min");
}
