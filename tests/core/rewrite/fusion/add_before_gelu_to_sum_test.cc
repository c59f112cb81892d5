#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& rows = "N,3") {
  return "g (float[" + rows + ",6] x, float[6,6] W, float[6] B, float[3,6] C) => (float[" + rows + ",6] y) { " + nodes +
         " }";
}
const char* const kProduct = "m = MatMul (x, W)  s = Add (B, m)  y = com.microsoft.Gelu (s)";

std::string kept(const std::string& text, int64_t opset = 17, Target target = Target::kOrt) {
  return declined(fusion::add_before_gelu_to_sum, text, opset, target);
}

}  // namespace

TEST_CASE("a bias that ONNX Runtime would join with the GELU behind it is added by a Sum") {
  CHECK(rewritten(fusion::add_before_gelu_to_sum, graph(kProduct), 17, 1e-6, Target::kOrt) == "MatMul Sum Gelu");
  CHECK(rewritten(fusion::add_before_gelu_to_sum, graph("s = Add (x, B)  y = Gelu (s)"), 20, 1e-6, Target::kOrt) ==
        "Sum Gelu");
}

TEST_CASE("a bias that it gives to the product stays, and so does what it leaves alone") {
  CHECK(kept(graph(kProduct, "2,3")) == "the bias joins the product");
  CHECK(kept(graph("s = Add (x, C)  y = com.microsoft.Gelu (s)")) == "ONNX Runtime joins rows only");
  CHECK(kept(graph("s = Add (x, B)  y = Gelu <approximate = \"tanh\"> (s)"), 20) == "FastGelu takes the bias");
  CHECK(kept(graph("s = Add (x, B)  g = com.microsoft.Gelu (s)  y = Mul (g, s)")) ==
        "the result of Add giving 's' is used elsewhere too");
  CHECK(kept(graph(kProduct), 17, Target::kOnnx) == "other runtimes add before GELU");
}

TEST_CASE("before GELU a Sum that does not broadcast is not written") {
  CHECK(kept(graph(kProduct), 7) == "Sum broadcasts from opset 8 on");
}
