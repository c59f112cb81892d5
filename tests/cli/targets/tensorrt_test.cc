#include "cli/targets.h"
#include "core/base/text.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string objections(const std::string& graph, int64_t opset = 21) {
  std::vector<std::string> all;
  for (const cli::Unsupported& node : cli::unsupported_by(test::fixture(graph, opset), "tensorrt"))
    all.push_back(node.reason);
  return join(all, "; ");
}

std::string pool(const std::string& attrs) {
  return objections("g (float[1,2,8,8] x) => (float[1,2,8,8] y) { y = MaxPool <kernel_shape = [1, 1], " + attrs +
                    "> (x) }");
}

}  // namespace

TEST_CASE("what TensorRT runs is told by operator, type and opset") {
  CHECK(objections("g (float[N,4] x) => (float[N,4] y) { a = Relu (x)  y = Softmax (a) }").empty());
  CHECK(objections("g (float[N,4] x) => (float[N,4] y) { y = Det (x) }") == "TensorRT does not run Det");
  CHECK(objections("g (int64[N] x) => (int64[N] y) { y = Neg (x) }").empty());
  CHECK(objections("g (int16[N] x) => (int16[N] y) { y = Neg (x) }") == "TensorRT does not run Neg on int16");
  CHECK(objections("g (bool[N] c, uint8[N] x) => (uint8[N] y) { y = Where (c, x, x) }") ==
        "TensorRT does not run Where on uint8");
  CHECK(objections("g (bool[N] c, float[N] x) => (float[N] y) { y = Where (c, x, x) }").empty());
  CHECK(objections("g (float[N] x) => (float[N] y) { y = Relu (x) }", 8) == "TensorRT takes opsets 9 to 24, this is 8");
}

TEST_CASE("limits of single operators in TensorRT are told") {
  CHECK(pool("dilations = [1, 1]").empty());
  CHECK(pool("dilations = [2, 2]") == "TensorRT's MaxPool pools without gaps only");
  CHECK(objections("g (float[1,2,8] x) => (float[1,2,8] y) { y = MaxPool <kernel_shape = [1]> (x) }") ==
        "TensorRT's MaxPool pools over two or three axes only");
  CHECK(objections("g (float[1,2,8,8] x) => (float[1,2,8,8] y, int64[1,2,8,8] i) "
                   "{ y, i = MaxPool <kernel_shape = [1, 1]> (x) }") ==
        "TensorRT's MaxPool gives no indices of maxima");
  const auto quantized = [](const std::string& zero) {
    return objections("g (float[4] x) => (float[4] y) <float s = {0.5}, int8 z = {" + zero +
                      "}> { q = QuantizeLinear (x, s, z)  y = DequantizeLinear (q, s, z) }");
  };
  CHECK(quantized("0").empty());
  CHECK(
      quantized("1") ==
      "TensorRT's QuantizeLinear takes zero points of zero only; TensorRT's DequantizeLinear takes zero points of zero "
      "only");
  CHECK(objections("g (float[2,3,8] q) => (float[2,3,8] y) "
                   "{ y = Attention <q_num_heads = 2, kv_num_heads = 2> (q, q, q) }",
                   23) == "TensorRT's Attention takes queries, keys and values of four axes");
  CHECK(objections("g (float[2,3,8,8] q) => (float[2,3,8,8] y) { y = Attention (q, q, q) }", 23).empty());
  CHECK(objections("g (float[8] x) => (float[k] y, int64[k] i) <int64[1] k = {4}> "
                   "{ y, i = TopK <sorted = 0> (x, k) }") == "TensorRT's TopK sorts always");
  CHECK(objections("g (float[1,1,4,4] x) => (float[1,1,8,8] y) <float[4] s = {1, 1, 2, 2}> "
                   "{ y = Resize <mode = \"cubic\"> (x, , s) }") ==
        "TensorRT's Resize does not resize by cubic curves");
}
