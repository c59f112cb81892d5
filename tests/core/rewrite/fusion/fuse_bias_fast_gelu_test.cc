#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& rows = "N") {
  return "g (float[" + rows + ",6] x, float[6,6] W, float[6] B) => (float[" + rows + ",6] y) { " + nodes + " }";
}
const char* const kSpelt = "s = Add (x, B)  y = com.microsoft.FastGelu (s)";
const char* const kProduct = "m = MatMul (x, W)  s = Add (m, B)  y = com.microsoft.FastGelu (s)";

}  // namespace

TEST_CASE("the bias before FastGelu is its input") {
  CHECK(rewritten(fusion::fuse_bias_fast_gelu, graph(kSpelt), 17, 1e-6, Target::kOrt) == "FastGelu");
  CHECK(rewritten(fusion::fuse_bias_fast_gelu, graph("s = Add (x, B)  y = Gelu <approximate = \"tanh\"> (s)"), 20, 1e-6,
                  Target::kOrt) == "FastGelu");
  CHECK(rewritten(fusion::fuse_bias_fast_gelu, graph(kProduct), 17, 1e-6, Target::kOrt) == "MatMul FastGelu");
}

TEST_CASE("a bias that ONNX Runtime gives to the product stays, and so do those of other targets and functions") {
  CHECK(declined(fusion::fuse_bias_fast_gelu, graph(kProduct, "2,3"), 17, Target::kOrt) ==
        "the bias joins the product");
  CHECK(declined(fusion::fuse_bias_fast_gelu, graph(kSpelt), 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::fuse_bias_fast_gelu, graph("s = Add (x, B)  y = Gelu (s)"), 20, Target::kOrt) ==
        "it is GELU by the error function");
}
