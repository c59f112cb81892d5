#include "core/ir/activations.h"

#include "core/ir/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

ActivationPeak peak(const std::string& text) {
  Model model = parse_text("<ir_version: 10, opset_import: [\"\" : 21]> " + text);
  infer(model);
  return activation_peak(*model.graph);
}

}  // namespace

TEST_CASE("a value lives until its last use") {
  // x and a, then a and b, then a, b and y: x is gone after its only use.
  CHECK(peak("g (float[100] x) => (float[100] y) { a = Relu (x) b = Neg (a) y = Add (a, b) }").bytes == 3 * 400);
  CHECK(peak("g (float[100] x) => (float[100] y) { a = Relu (x) b = Neg (a) y = Abs (b) }").bytes == 2 * 400);
  CHECK(peak("g (float[100] x) => (float[100] y, float[100] a) { a = Relu (x) b = Neg (a) y = Abs (b) }").bytes ==
        3 * 400);
}

TEST_CASE("constants are not counted, unknown shapes are told") {
  CHECK(peak("g (float[4] x) => (float[4] y) <float[4] w = {1,2,3,4}> { y = Add (x, w) }").bytes == 32);
  const ActivationPeak unknown = peak("g (float[N] x) => (float[N] y) { y = Relu (x) }");
  CHECK(unknown.bytes == 0);
  CHECK(unknown.unknown_values == 2);
}

TEST_CASE("a body adds its own values while its node runs, and keeps what it captures") {
  const ActivationPeak found = peak(R"(g (bool c, float[10] x) => (float[10] y) {
    a = Relu (x)
    y = If (c) <
      then_branch = t () => (float[10] r) { p = Neg (a) r = Abs (p) },
      else_branch = e () => (float[10] s) { s = Neg (a) }>
  })");
  // c, a, y, and inside p and r.
  CHECK(found.bytes == 1 + 4 * 40);
}
