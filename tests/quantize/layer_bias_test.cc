#include "quantize/layer_bias.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("what is added to a bias stands in it, and one for each row is none") {
  for (const char* bias : {"float[2] B", "float[1,2] B", "float B"}) {
    INFO(bias);
    Model model =
        test::fixture("g (float[2,3] x, float[3,2] W, " + std::string(bias) + ") => (y) { y = Gemm (x, W, B) }");
    Node* gemm = model.graph->nodes()[0];
    const std::vector<float> was = to_floats(*gemm->input(2)->constant);
    CHECK(quantize::add_to_bias(*model.graph, gemm, {0.5, -2}) == std::vector<double>{0.5, -2});
    const std::vector<float> is = to_floats(*gemm->input(2)->constant);
    CHECK(is == std::vector<float>{was[0] + 0.5F, was[was.size() - 1] - 2});
  }
  Model model = test::fixture("g (float[2,3] x, float[3,2] W, float[2,1] B) => (y) { y = Gemm (x, W, B) }");
  CHECK(quantize::add_to_bias(*model.graph, model.graph->nodes()[0], {0.5, -2}).empty());
}

TEST_CASE("a bias in codes moves by whole steps") {
  Model model = test::fixture(R"(
    g (float[2,3] x, float[3,2] W) => (y) <int32[2] b = {10, -7}, float s = {0.5}> {
      c = DequantizeLinear (b, s)
      y = Gemm (x, W, c)
    })");
  Node* gemm = model.graph->nodes()[1];
  CHECK(quantize::add_to_bias(*model.graph, gemm, {1.1, -0.2}) == std::vector<double>{1, 0});
  CHECK(to_ints(*gemm->input(2)->producer->input(0)->constant) == std::vector<int64_t>{12, -7});
}
