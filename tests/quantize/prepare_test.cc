#include "quantize/prepare.h"

#include "quantize/spec.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The operators of what formats are given to.
std::string prepared(const std::string& graph, const std::string& spec) {
  quantize::Means means;
  means.passes = test::pass_context();
  return test::operators(*quantize::prepare(test::fixture(graph), quantize::parse_spec(spec), means).model.graph);
}

constexpr const char* kBert = R"(
    g (int32[N,S] ids, int32[N,S] seen, float[5,4] T, float[9,4] P, float[4] G, float[4] B, float[4,12] W, float[12] C)
        => (float[N,S,4] y) {
      x = com.microsoft.EmbedLayerNormalization (ids, , T, P, , G, B)
      y = com.microsoft.Attention <num_heads = 2> (x, W, C, seen) })";

}  // namespace

TEST_CASE("weights inside of ONNX Runtime's operators get the format too, tables where it stores them") {
  const std::string split = "MatMul MatMul MatMul MultiHeadAttention";
  CHECK(prepared(kBert, "w8") == "Gather Shape Slice Add LayerNormalization " + split);
  CHECK(prepared(kBert, "w8a8-dynamic") == "EmbedLayerNormalization " + split);
}

TEST_CASE("Swish is written for what runs it") {
  constexpr const char* kGate = R"(
    g (float[N,4] x, float[4,4] W) => (float[N,4] y) { h = MatMul (x, W)  s = Sigmoid (h)  y = Mul (h, s) })";
  CHECK(prepared(kGate, "w8:opset=25") == "MatMul Sigmoid Mul");
  CHECK(prepared(kGate, "w8:target=onnx;opset=25") == "MatMul Swish");
}

TEST_CASE("kernels take no identity, whose numbers would be rounded with theirs") {
  constexpr const char* kBlock = R"(
    g (float[N,4,5,5] x, float[4,4,3,3] W, float[4,4,1,1] V) => (float[N,4,5,5] y) {
      a = Conv <pads = [1, 1, 1, 1]> (x, W)
      b = Conv (x, V)
      c = Add (a, b)
      y = Add (c, x) })";
  CHECK(prepared(kBlock, "w8a8-dynamic") == "Conv Add");
}
