#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string lowered(const std::string& x, const std::string& y) {
  Model model = test::fixture("g (" + x + " x) => (" + y +
                              " y) <int64[2] p = {2, 0}> { y = "
                              "ai.onnx.ml.ArrayFeatureExtractor (x, p) }");
  model.set_opset("ai.onnx.ml", 1);
  return test::rewritten(lower::array_feature_extractor, model, 0, Target::kKernels);
}

}  // namespace

TEST_CASE("columns are gathered") {
  CHECK(lowered("double[3,4]", "double[3,2]") == "Reshape Gather");
  CHECK(lowered("double[4]", "double[1,2]") == "Reshape Reshape Gather");
}
