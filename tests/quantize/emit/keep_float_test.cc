#include "quantize/emit/keep_float.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The operators after keep_float() of a convolution that reads rounded values, and what follows it.
std::string kept(const std::string& after) {
  Model model = test::fixture(R"(
    g (float[1,4,4,4] x, float[4,4,1,1] W) => (y) <float s = {0.1}, uint8 z = {0}> {
      q = QuantizeLinear (x, s, z)
      d = DequantizeLinear (q, s, z)
      a = Conv (d, W)
)" + after + "}");
  infer(model, standard_types);
  quantize::keep_float(model);
  REQUIRE(verify(model).empty());
  const std::string all = test::operators(*model.graph);
  return all.substr(all.find("Conv"));
}

}  // namespace

TEST_CASE("a float layer between rounded values is kept from becoming an integer one") {
  CHECK(kept("y = QuantizeLinear (a, s, z)") == "Conv LeakyRelu QuantizeLinear");
  CHECK(kept("r = Relu (a) y = QuantizeLinear (r, s, z)") == "Conv LeakyRelu Relu QuantizeLinear");
}

TEST_CASE("a float layer whose floats are read stays as it is") {
  CHECK(kept("y = Softmax (a)") == "Conv Softmax");
  CHECK(kept("e = Exp (a) y = QuantizeLinear (e, s, z)") == "Conv Exp QuantizeLinear");
  CHECK(kept("p = QuantizeLinear (a, s, z) b = DequantizeLinear (p, s, z) y = Add (a, b)") ==
        "Conv QuantizeLinear DequantizeLinear Add");
}
