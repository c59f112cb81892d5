#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

const char* kGraph = R"(g (float[N,6] x, float[6] B) => (float[N,6] y) { s = Add (B, x)  y = com.microsoft.Gelu (s) })";

}  // namespace

TEST_CASE("the bias before Gelu is an input of BiasGelu") {
  CHECK(rewritten(fusion::bias_gelu, kGraph, 17, 1e-6, Target::kOrt) == "BiasGelu");
  CHECK(rewritten(fusion::bias_gelu, R"(g (float[N,6] x, float[6] B) => (float[N,6] y) {
    s = Add (x, B)  y = com.microsoft.FastGelu (s) })",
                  17, 1e-6, Target::kOrt) == "FastGelu");
}

TEST_CASE("the standard's Gelu takes the bias too") {
  const std::string graph = "g (float[N,6] x, float[6] B) => (float[N,6] y) { s = Add (x, B)  y = Gelu ";
  CHECK(rewritten(fusion::bias_gelu, graph + "(s) }", 20, 1e-6, Target::kOrt) == "BiasGelu");
  CHECK(rewritten(fusion::bias_gelu, graph + "<approximate = \"tanh\"> (s) }", 20, 1e-6, Target::kOrt) == "FastGelu");
  CHECK(declined(fusion::bias_gelu, graph + "(s) }", 20) == "only ONNX Runtime has it");
}

TEST_CASE("other sums before Gelu stay") {
  CHECK(declined(fusion::bias_gelu, kGraph, 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::bias_gelu, R"(g (float[N,6] x, float[3,6] B) => (float[N,6] y) {
    s = Add (x, B)  y = com.microsoft.Gelu (s) })",
                 17, Target::kOrt) == "the addend is not one row");
  CHECK(declined(fusion::bias_gelu, R"(g (float[N,6] x, float[6] b) => (float[N,6] y) {
    s = Add (x, b)  y = com.microsoft.Gelu (s) })",
                 17, Target::kOrt) == "'b' is not constant");
}
