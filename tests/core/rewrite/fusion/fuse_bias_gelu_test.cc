#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& bias = "float[6] B") {
  return "g (float[N,6] x, " + bias + ") => (float[N,6] y) { " + nodes + " }";
}
const char* const kSpelt = "s = Add (B, x)  y = com.microsoft.Gelu (s)";

}  // namespace

TEST_CASE("the bias before Gelu is an input of BiasGelu") {
  CHECK(rewritten(fusion::fuse_bias_gelu, graph(kSpelt), 17, 1e-6, Target::kOrt) == "BiasGelu");
  CHECK(rewritten(fusion::fuse_bias_gelu, graph("s = Sum (x, B)  y = com.microsoft.Gelu (s)"), 17, 1e-6,
                  Target::kOrt) == "BiasGelu");
  CHECK(rewritten(fusion::fuse_bias_gelu, graph("s = Add (x, B)  y = Gelu (s)"), 20, 1e-6, Target::kOrt) == "BiasGelu");
}

TEST_CASE("other sums before Gelu stay") {
  CHECK(declined(fusion::fuse_bias_gelu, graph(kSpelt), 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::fuse_bias_gelu, graph("s = Add (x, B)  y = Gelu <approximate = \"tanh\"> (s)"), 20,
                 Target::kOrt) == "FastGelu takes the bias");
  CHECK(declined(fusion::fuse_bias_gelu, graph(kSpelt, "float[3,6] B"), 17, Target::kOrt) ==
        "the addend is not one row");
  CHECK(declined(fusion::fuse_bias_gelu, graph("s = Add (x, b)  y = com.microsoft.Gelu (s)", "float[6] b"), 17,
                 Target::kOrt) == "'b' is not constant");
}
