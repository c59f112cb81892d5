#include "core/onnx/older/changes.h"

#include <algorithm>

#include "core/onnx/infer.h"
#include "core/onnx/older/write.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/older.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using mlopt::test::in_older;
using mlopt::test::not_in_older;

TEST_CASE("changes are of versions that the standard has, in order") {
  const auto changes = proto::changes_of_operators();
  const auto before = [](const auto& a, const auto& b) { return std::pair(a.op, a.opset) < std::pair(b.op, b.opset); };
  CHECK(std::is_sorted(changes.begin(), changes.end(), before));
  for (const proto::Change& change : changes) {
    INFO(change.op << " " << change.opset);
    CHECK(known_operator("", change.op, change.opset));
    CHECK(change.opset > proto::kOldestWritten);
  }
}

TEST_CASE("what an attribute says must be what older opsets do") {
  const std::string none = "older opsets lack its attribute ";
  const auto pooled = [](const std::string& attrs) {
    return "g (float[N,1,8] x) => (float[N,1,L] y) { y = AveragePool <kernel_shape = [3], " + attrs + "> (x) }";
  };
  CHECK(in_older(pooled("dilations = [1]"), 19, 18) == "AveragePool");
  CHECK(not_in_older(pooled("dilations = [2]"), 19, 18) == none + "'dilations'");
  CHECK(in_older("g (float[N] x) => (int32[N] y) { y = Cast <saturate = 0, to = 6> (x) }", 19, 13) == "Cast");
  const auto reshaped = [](const std::string& sizes) {
    return "g (float[N,4] x) => (float[N,2,2] y) <int64[3] s = {" + sizes + "}> { y = Reshape <allowzero = 1> (x, s) }";
  };
  CHECK(in_older(reshaped("-1, 2, 2"), 14, 13) == "Reshape");
  CHECK(not_in_older(reshaped("0, 2, 2"), 14, 13) == none + "'allowzero'");
  CHECK(not_in_older("g (float[N,4] x, int64[2] s) => (float[A,B] y) { y = Reshape <allowzero = 1> (x, s) }", 14, 13) ==
        none + "'allowzero'");
  const auto to_batch = [](const std::string& place) {
    return "g (float[N,4] x) => (float[A,B] y) <int64[1] first = {0}, int64[1] four = {4}> { s = Shape (x) "
           "n = Gather (s, first) t = Concat <axis = 0> (" +
           place + ") y = Reshape <allowzero = 1> (x, t) }";
  };
  CHECK(in_older(to_batch("n, four"), 14, 13) == "Shape Gather Concat Reshape");
  CHECK(not_in_older(to_batch("four, n"), 14, 13) == none + "'allowzero'");
}

TEST_CASE("resizes that older opsets know") {
  const auto resized = [](const std::string& attrs) {
    return "g (float[1,2,4,4] x) => (float[1,2,8,8] y) <int64[4] s = {1, 2, 8, 8}> { y = Resize <" + attrs +
           R"( mode = "linear"> (x, , , s) })";
  };
  CHECK(in_older(resized("antialias = 0,"), 18, 17) == "Resize");
  CHECK(not_in_older(resized("antialias = 1,"), 18, 17) == "older opsets lack its attribute 'antialias'");
  CHECK(not_in_older(resized(R"(coordinate_transformation_mode = "half_pixel_symmetric",)"), 19, 18) ==
        "older opsets do not know coordinate_transformation_mode 'half_pixel_symmetric'");
}

TEST_CASE("GridSample's modes have other names") {
  const auto sampled = [](const std::string& mode) {
    return R"(g (float[N,1,4,4] x, float[N,3,3,2] grid) => (float[N,1,3,3] y) { y = GridSample <mode = ")" + mode +
           R"("> (x, grid) })";
  };
  CHECK(in_older(sampled("linear"), 20, 16) == "GridSample");
  CHECK(in_older(sampled("cubic"), 22, 17) == "GridSample");
  CHECK(in_older(sampled("nearest"), 20, 19) == "GridSample");
  CHECK(not_in_older("g (float[1,1,4,4,4] x, float[1,3,3,3,3] grid) => (y) { y = GridSample (x, grid) }", 20, 16) ==
        "older opsets sample two spatial axes only");
}

TEST_CASE("quantization by one scale, of the types that there were") {
  const auto quantized = [](const std::string& type, const std::string& scale, const std::string& attrs) {
    return "g (float[N,4] x) => (" + type + "[N,4] y) <float" + scale + "> { y = QuantizeLinear <" + attrs +
           "> (x, s) }";
  };
  CHECK(in_older(quantized("uint8", " s = {0.1}", "axis = 1"), 21, 11) == "QuantizeLinear");
  CHECK(in_older(quantized("uint8", "[4] s = {0.1, 0.2, 0.3, 0.4}", "axis = 1"), 21, 13) == "QuantizeLinear");
  CHECK(not_in_older(quantized("uint8", "[4] s = {0.1, 0.2, 0.3, 0.4}", "axis = 1"), 21, 11) ==
        "older opsets lack its attribute 'axis'");
  CHECK(not_in_older(quantized("int16", " s = {0.1}", "output_dtype = 5"), 21, 19) ==
        "older opsets lack its attribute 'output_dtype'");
}

TEST_CASE("codes of int8 say their type in older opsets") {
  Model model = test::fixture(R"(g (int8[N,4] x) => (float[N,4] y) <float s = {0.1}> {
    y = DequantizeLinear (x, s)
  })",
                              21);
  infer(model, standard_types);
  const Model older = convert_opset(model, 19);
  const Node* node = older.graph->nodes()[0];
  REQUIRE(node->input(2));
  CHECK(node->input(2)->constant->dtype() == DType::kI8);
  CHECK(node->input(2)->constant->rank() == 0);
  CHECK_FALSE(convert_opset(model, 23).graph->nodes()[0]->input(2));
}

TEST_CASE("scatters that only write came before those that add") {
  const auto scattered = [](const std::string& how) {
    return R"(g (float[4] x, float[2] u) => (float[4] y) <int64[2,1] i = {2, 0}> { y = ScatterND <reduction = ")" +
           how + R"("> (x, i, u) })";
  };
  CHECK(in_older(scattered("none"), 18, 13) == "ScatterND");
  CHECK(in_older(scattered("add"), 18, 16) == "ScatterND");
  CHECK(not_in_older(scattered("add"), 18, 13) == "older opsets lack its attribute 'reduction'");
  CHECK(not_in_older(scattered("max"), 18, 16) == "older opsets do not know reduction 'max'");
}

TEST_CASE("remainders of floating point are those of fmod") {
  const auto modulo = [](const std::string& type, const std::string& attrs) {
    return "g (" + type + "[N] x) => (" + type + "[N] y) <" + type + " two = {2}> { y = Mod <" + attrs + "> (x, two) }";
  };
  CHECK(in_older(modulo("float", "fmod = 1"), 28, 13) == "Mod");
  CHECK(in_older(modulo("int64", "fmod = 0"), 28, 13) == "Mod");
  CHECK(not_in_older(modulo("float", "fmod = 0"), 28, 13) == "older opsets have it for integers only");
}
