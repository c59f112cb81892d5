#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("what is above a threshold is compared with it") {
  Model model =
      test::fixture("g (double[3,4] x) => (double[3,4] y) { y = ai.onnx.ml.Binarizer <threshold = 0.25> (x) }");
  model.set_opset("ai.onnx.ml", 1);
  CHECK(test::rewritten(lower::binarizer, model, 0, Target::kKernels) == "Greater Cast");
}
