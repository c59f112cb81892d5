#include "core/base/error.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

Model of_opset(int opset, const std::string& graph) {
  return parse_text("<ir_version: 11, opset_import: [\"\" : " + std::to_string(opset) + "]> main " + graph);
}

}  // namespace

TEST_CASE("operators that an older opset lacks are written as those that it has") {
  const Model norm = of_opset(23, R"((float[N,8] x, float[8] s) => (float[N,8] y) {
    h = RMSNormalization (x, s)  y = Gelu (h) })");
  const Model older = convert_opset(norm, 18);
  CHECK(older.opset() == 18);
  CHECK(check_with_onnx(older).errors.empty());
  test::require_same_model(norm, older, 1e-6);

  const Model attention = of_opset(23, R"((float[B,4,S,8] q, float[B,4,T,8] k, float[B,4,T,8] v) => (float[B,4,S,8] y) {
    y = Attention (q, k, v) })");
  test::require_same_model(attention, convert_opset(attention, 21), 1e-6);
}

TEST_CASE("in bodies too, and functions of the model stay") {
  const Model model = of_opset(20, R"((bool c, float[N] x) => (float[N] y) {
    y = If (c) <then_branch = a () => (float[N] p) { p = Gelu (x) }, else_branch = b () => (float[N] q) { q = local.twice (x) }>
  } <domain: "local", opset_import: ["" : 20]> twice (a) => (b) { b = Add (a, a) })");
  Model expanded = clone(model);
  expand_newer_operators(expanded, 17);
  CHECK(expanded.functions.size() == 1);
  for (const Node* node : all_nodes(*expanded.graph)) CHECK(node->op != "Gelu");
  test::require_same_model(model, expanded, 1e-6);
}

TEST_CASE("what has no body stays, and the converter says so") {
  const Model model = of_opset(22,
                               "(float[N,1,H,W] x, float[N,2,R,C] grid) => (float[N,1,R,C] y) { z = Relu (x)  "
                               "m = Mish (z)  y = GridSample (m, grid) }");
  Model expanded = clone(model);
  expand_newer_operators(expanded, 15);
  CHECK(test::operators(*expanded.graph).find("GridSample") != std::string::npos);
  CHECK(test::operators(*expanded.graph).find("Mish") == std::string::npos);
  CHECK_THROWS_AS(convert_opset(model, 15), Error);
}

TEST_CASE("below what is written here, bodies are expanded again for the converter") {
  const Model model = of_opset(9, R"((float[N,2,3,3] x) => (float[N,2,3,3] y) { y = MeanVarianceNormalization (x) })");
  const Model older = convert_opset(model, 8);
  CHECK(check_with_onnx(older).errors.empty());
  test::require_same_model(model, older, 1e-6);
}

TEST_CASE("a body of an opset between the two is refused as the conversion that it is part of") {
  const Model model = of_opset(23, R"((float[1,2,3] theta, int64[4] size) => (float[1,H,W,2] y) {
    y = AffineGrid (theta, size) })");
  CHECK(test::contains(test::error_of([&] { convert_opset(model, 19); }), "cannot convert opset 23 to 19: function"));
}
