#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::split_contrib_gelu;
using test::declined;
using test::rewritten;

namespace {

std::string one(const std::string& call) {
  return "g (float[N,6] x, float[6] b) => (float[N,6] y) { y = com.microsoft." + call + " }";
}

}  // namespace

TEST_CASE("GELUs of com.microsoft become those of the standard") {
  CHECK(rewritten(split_contrib_gelu, one("Gelu (x)"), 20, 1e-6) == "Gelu");
  CHECK(rewritten(split_contrib_gelu, one("BiasGelu (x, b)"), 20, 1e-6) == "Add Gelu");
  CHECK(rewritten(split_contrib_gelu, one("FastGelu (x, b)"), 20, 1e-6) == "Add Gelu");
}

TEST_CASE("... or what they are made of, where the opset has none") {
  CHECK(rewritten(split_contrib_gelu, one("BiasGelu (x, b)"), 17, 1e-6) == "Add Div Erf Add Mul Mul");
  CHECK(rewritten(split_contrib_gelu, one("FastGelu (x)"), 17, 1e-6) == "Mul Mul Add Mul Tanh Add Mul Mul");
  CHECK(rewritten(split_contrib_gelu, one("QuickGelu <alpha = 1.5> (x)"), 21, 1e-6) == "Mul Sigmoid Mul");
  CHECK(rewritten(split_contrib_gelu, one("QuickGelu <alpha = 1.0> (x)"), 21, 1e-6) == "Sigmoid Mul");
}

TEST_CASE("GELUs that ONNX Runtime is to run, and those before Erf, stay") {
  CHECK(declined(split_contrib_gelu, one("FastGelu (x)"), 17, Target::kOrt) == "ONNX Runtime has it");
  CHECK(declined(split_contrib_gelu, one("FastGelu (x)"), 8) == "there is no Erf before opset 9");
  CHECK(declined(split_contrib_gelu, "g (double[N,6] x) => (double[N,6] y) { y = com.microsoft.Gelu (x) }", 17) ==
        "it is not of known floats");
  CHECK(declined(split_contrib_gelu, "g (float[N,6] x) => (float[N,6] y) { y = Gelu (x) }", 20).empty());
}
