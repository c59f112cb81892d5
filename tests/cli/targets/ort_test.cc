#include "cli/targets.h"
#include "cli/targets/runtimes.h"
#include "core/base/text.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string objections(const std::string& graph, int64_t opset = 21) {
  Model model = test::fixture(graph, opset);
  model.set_opset("com.microsoft", 1);
  std::vector<std::string> all;
  for (const cli::Unsupported& node : cli::unsupported_by(model, "ort")) all.push_back(node.reason);
  return join(all, "; ");
}

std::string add(const std::string& type, int64_t opset) {
  return objections("g (" + type + "[4] x) => (" + type + "[4] y) { y = Add (x, x) }", opset);
}

}  // namespace

TEST_CASE("words of a list are whole ones") {
  for (const char* word : {"ReduceMax", "Max", "Min"}) CHECK(cli::lists("ReduceMax Max Min", word));
  for (const char* word : {"", "Reduce", "Mi", "Max Min"}) CHECK_FALSE(cli::lists("ReduceMax Max Min", word));
}

TEST_CASE("what ONNX Runtime runs is told by operator, opset and type") {
  CHECK(add("float", 13).empty());
  CHECK(add("int8", 13) == "ONNX Runtime does not run Add on int8 in opset 13");
  CHECK(add("int8", 14).empty());
  CHECK(add("float16", 14).empty());  // between Casts
  CHECK(add("bfloat16", 14) == "ONNX Runtime does not run Add on bfloat16 in opset 14");
  CHECK(add("float", 6) == "ONNX Runtime does not run Add of opset 6");
  CHECK(add("float", 27) == "ONNX Runtime takes opsets to 26, this is 27");
  CHECK(objections(
            "g (double[1,1,4,4] x) => (double[1,1,3,3] y) <double[1,1,2,2] w = {1, 1, 1, 1}> { y = Conv (x, w) }") ==
        "ONNX Runtime does not run Conv on float64 in opset 21");
  CHECK(objections("g (bool[4] c, uint64[4] x) => (uint64[4] y) { y = Where (c, x, x) }") ==
        "ONNX Runtime does not run Where on uint64 in opset 21");
  CHECK(objections("g (float[1,1,4,4] x) => (float[1,1,8,8] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample (x, s) }", 9)
            .empty());
}

TEST_CASE("operators that ONNX Runtime takes apart need kernels for their parts") {
  const auto of = [](const std::string& op, const std::string& type, int64_t opset) {
    return objections("g (" + type + "[4] x) => (" + type + "[4] y) { y = " + op + " (x) }", opset);
  };
  CHECK(of("HardSwish", "float", 14).empty());
  CHECK(of("HardSwish", "float16", 14).empty());
  CHECK(of("HardSwish", "double", 14) == "ONNX Runtime does not run HardSwish on float64 in opset 14");
  CHECK(of("Mish", "double", 19) == "ONNX Runtime does not run Mish on float64 in opset 19");
  CHECK(of("HardSigmoid", "double", 19) == "ONNX Runtime does not run HardSigmoid on float64 in opset 19");
  CHECK(of("Swish", "double", 24).empty());
  CHECK(of("Swish", "float", 25) == "ONNX Runtime does not run Swish of opset 25");
}

TEST_CASE("limits of single operators in ONNX Runtime are told") {
  const auto quantized = [](const std::string& type, int64_t opset) {
    return objections("g (float[4] x) => (" + type + "[4] y) <float s = {0.5}, " + type +
                          " z = {0}> { y = QuantizeLinear (x, s, z) }",
                      opset);
  };
  CHECK(quantized("int8", 13).empty());
  CHECK(quantized("int16", 19) == "ONNX Runtime does not run QuantizeLinear on int16 in opset 19");
  CHECK(quantized("int16", 21).empty());
  CHECK(objections("g (float[1,2,4] x, float[1,8,4] w, float[1,8,2] r) => (float[1,2,1,2] y) "
                   "{ y = LSTM <hidden_size = 2, layout = 1> (x, w, r) }") ==
        "ONNX Runtime's LSTM takes the sequence as first axis only");
  CHECK(objections("g (float[2,2] x) => (float[2,2] y) { y = RandomUniformLike (x) }", 22) ==
        "ONNX Runtime does not run RandomUniformLike of opset 22");
}

TEST_CASE("what the standard makes of other operators runs without a kernel") {
  CHECK(objections("g (float[4] x) => (float[4] y) { y = Mish (x) }").empty());
  CHECK(objections("g (uint8[k] x) => (uint8[a,b,3] y) { y = ImageDecoder (x) }") ==
        "ONNX Runtime does not run ImageDecoder of opset 21");
}

TEST_CASE("operators that ONNX Runtime adds are known") {
  CHECK(objections("g (float[2,4] x) => (float[2,4] y) <float[4] w = {1, 1, 1, 1}> "
                   "{ a = com.microsoft.QuickGelu (x)  y = SimplifiedLayerNormalization (a, w) }")
            .empty());
  CHECK(objections("g (float[2,4] x) => (float[2,4] y) { y = com.microsoft.GroupNorm (x) }") ==
        "ONNX Runtime does not run com.microsoft.GroupNorm on the CPU");
  CHECK(objections("g (float[2,4] x) => (float[2,4] y) { y = local.Mine (x) }") ==
        "ONNX Runtime does not run local.Mine on the CPU");
}
