#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& outputs = "float[N,M,6] y") {
  return "g (float[N,M,6] x, float[N,M,6] z, float[M,6] w, float[6] S, float[6] B) => (" + outputs + ") { " + nodes +
         " }";
}
std::string kept(const std::string& nodes, const std::string& outputs = "float[N,M,6] y",
                 Target target = Target::kOrt) {
  return declined(fusion::add_before_norm_to_sum, graph(nodes, outputs), 17, target);
}

}  // namespace

TEST_CASE("an addition that ONNX Runtime would join with the normalization behind it is a Sum") {
  CHECK(rewritten(fusion::add_before_norm_to_sum,
                  graph("s = Add (x, z)  y = LayerNormalization <epsilon = 0.5> (s, S, B)"), 17, 1e-6,
                  Target::kOrt) == "Sum LayerNormalization");
}

TEST_CASE("additions that it leaves alone stay, and so do all for other runtimes") {
  CHECK(kept("s = Add (x, z)  n = LayerNormalization (s, S, B)  y = Mul (s, n)") ==
        "the result of Add giving 's' is used elsewhere too");
  CHECK(kept("s = Add (x, w)  y = LayerNormalization (s, S, B)") ==
        "ONNX Runtime leaves sums of other types and ranks alone");
  CHECK(kept("s = Add (x, z)  y = LayerNormalization (s, S, B)", "float[N,M,6] y", Target::kOnnx) ==
        "other runtimes add before they normalize");
}

TEST_CASE("a Sum that does not broadcast is not written") {
  CHECK(declined(fusion::add_before_norm_to_sum,
                 "g (float[N,M,6] x, float[1,M,6] z, float[6] S) => (float[N,M,6] y) { s = Add (x, z)  y = "
                 "LayerNormalization (s, S) }",
                 7, Target::kOrt) == "Sum broadcasts from opset 8 on");
}
