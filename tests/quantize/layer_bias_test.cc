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

TEST_CASE("a bias of one layer changes where it stands, and one that layers share stays for the others") {
  Model model = test::fixture(R"(
    g (float[2,3] x, float[3,2] W, float[2] A, float[2] B) => (y, z) {
      a = Gemm (x, W, A)
      y = Gemm (x, W, B)
      z = Gemm (x, W, B)
    })");
  Graph& graph = *model.graph;
  const std::vector<float> shared = to_floats(*graph.find("B")->constant);
  const size_t before = graph.initializers().size();
  quantize::add_to_bias(graph, graph.nodes()[0], {0.5, -2});
  CHECK(graph.nodes()[0]->input(2)->name == "A");
  CHECK(graph.initializers().size() == before);
  quantize::add_to_bias(graph, graph.nodes()[1], {0.5, -2});
  CHECK(to_floats(*graph.nodes()[1]->input(2)->constant)[0] == shared[0] + 0.5F);
  CHECK(to_floats(*graph.nodes()[2]->input(2)->constant) == shared);
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
