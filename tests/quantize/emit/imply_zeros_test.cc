#include "quantize/emit/imply_zeros.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// How many inputs QuantizeLinear and DequantizeLinear have when activations have this zero point; the values are the
/// same.
std::string inputs_with(const std::string& zero, int64_t opset) {
  const std::string graph = "g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float s = {0.07}, " + zero +
                            ", int8[1,2,4,4] c = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, "
                            "8, 1, 2, 3, 4, 5, 6, 7, 8}, int8 n = {0}> { q = QuantizeLinear (x, s, z) "
                            "d = DequantizeLinear (q, s, z) w = DequantizeLinear (c, s, n) y = Add (d, w) }";
  const Model source = test::fixture(graph, opset);
  Model model = test::fixture(graph, opset);
  infer(model, standard_types);
  quantize::imply_zeros(model);
  REQUIRE(verify(model).empty());
  infer(model, standard_types);
  test::require_same_model(source, model, 0);
  std::string counts;
  for (const Node* node : model.graph->nodes())
    if (!node->is("Add")) counts += std::to_string(node->inputs().size());
  return counts;
}

}  // namespace

TEST_CASE("zero points of int8 activations are left out of DequantizeLinear where QuantizeLinear can say its type") {
  CHECK(inputs_with("int8 z = {0}", 21) == "323");
  CHECK(inputs_with("int8 z = {0}", 23) == "323");
  CHECK(inputs_with("int8 z = {0}", 19) == "333");
}

TEST_CASE("zero points that say something stay") {
  CHECK(inputs_with("int8 z = {3}", 21) == "333");
  CHECK(inputs_with("uint8 z = {0}", 21) == "333");
  CHECK(inputs_with("int16 z = {0}", 21) == "333");
}
