#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::split_contrib_norm;
using test::declined;
using test::rewritten;

namespace {

const char* kSimplified = R"(g (float[N,6] x, float[6] w) => (float[N,6] y) {
  y = SimplifiedLayerNormalization <axis = -1, epsilon = 0.01> (x, w) })";

std::string skip(const std::string& op, const std::string& more, const std::string& outputs = "y",
                 const std::string& also = "") {
  return "g (float[N,3,6] x, float[N,3,6] s, float[6] w, float[6] b, float[6] c) => (float[N,3,6] y" + also + ") { " +
         outputs + " = com.microsoft." + op + " <epsilon = 0.01> (x, s, w" + more + ") }";
}

}  // namespace

TEST_CASE("SkipLayerNormalization becomes sums and LayerNormalization") {
  CHECK(rewritten(split_contrib_norm, skip("SkipLayerNormalization", ""), 17, 1e-5) == "Add LayerNormalization");
  CHECK(rewritten(split_contrib_norm, skip("SkipLayerNormalization", ", b, c"), 17, 1e-5) ==
        "Add Add LayerNormalization");
  CHECK(rewritten(split_contrib_norm, skip("SkipLayerNormalization", ", b", "y, , , z", ", float[N,3,6] z"), 17,
                  1e-5) == "Add LayerNormalization");
}

TEST_CASE("what is added to variances where the node does not say is little behind a sum") {
  for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    CHECK(rewritten(split_contrib_norm,
                    "g (float[4,6] x) => (float[4,6] y) <float[6] w = {1, 1, 1, 1, 1, 1}, float k = {0.0001}> { s = "
                    "Mul (x, k) y = com.microsoft." +
                        std::string(op) + " (s, s, w) }",
                    23, 1e-4)
              .ends_with("Normalization"));
}

TEST_CASE("simplified normalizations become RMSNormalization") {
  CHECK(rewritten(split_contrib_norm, kSimplified, 23, 1e-5) == "RMSNormalization");
  CHECK(rewritten(split_contrib_norm, skip("SkipSimplifiedLayerNormalization", ", b"), 23, 1e-5) ==
        "Add Add RMSNormalization");
}

TEST_CASE("normalizations that give statistics, and those that the opset or the target does not need, stay") {
  CHECK(declined(split_contrib_norm, kSimplified, 22) == "RMSNormalization needs opset 23");
  CHECK(declined(split_contrib_norm, skip("SkipLayerNormalization", ""), 16) == "LayerNormalization needs opset 17");
  CHECK(declined(split_contrib_norm, skip("SkipLayerNormalization", ""), 17, Target::kOrt) == "ONNX Runtime has it");
  CHECK(declined(split_contrib_norm, skip("SkipLayerNormalization", ", b", "y, m", ", float[N,3,1] m"), 17) ==
        "it gives its statistics");
}
