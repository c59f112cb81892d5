#include "quantize/plan.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// "", or why the model's one node is no product.
std::string refusal(const std::string& graph) {
  const Model model = test::fixture(graph);
  const NodeView view(*model.graph->nodes()[0], model.opset());
  const auto product = quantize::is_product(view);
  return product ? "" : product.error().reason;
}

NodeView view_of(const Model& model) { return {*model.graph->nodes()[0], model.opset()}; }

}  // namespace

TEST_CASE("convolutions and matrix products with constant weights are products") {
  CHECK(refusal("g (float[N,8,9,9] x, float[16,8,3,3] W, float[16] B) => (y) { y = Conv (x, W, B) }").empty());
  CHECK(refusal("g (float[N,32,9,9] x, float[4,32,3,3] W) => (y) { y = Conv (x, W) }").empty());  // of long sums
  CHECK(refusal("g (float[N,8,9] x, float[8,1,3] W) => (y) { y = Conv <group = 8> (x, W) }").empty());
  CHECK(refusal("g (float[N,32] x, float[32,16] W) => (y) { y = MatMul (x, W) }").empty());
  CHECK(refusal("g (float[N,32] x, float[16,32] W, float[16] B) => (y) { y = Gemm <transB = 1> (x, W, B) }").empty());
}

TEST_CASE("what integer kernels cannot do is refused with its reason") {
  struct Case {
    const char *graph, *reason;
  };
  for (const Case& c :
       {Case{"g (float[N,32] x, float[32,16] w) => (y) { y = MatMul (x, w) }", "its weight is not constant"},
        Case{"g (float[N,32] x, float[32,16] W, float[16] b) => (y) { y = Gemm (x, W, b) }",
             "its bias is not constant"},
        Case{"g (float16[N,32] x, float16[32,16] W) => (y) { y = MatMul (x, W) }", "its weight is float16"},
        Case{"g (float[N,32] x, float[32,8] W) => (y) { y = MatMul (x, W) }",
             "its weight of 32x8 is too small to gain"},
        Case{"g (float[N,8,9] x, float[12,8,3] W) => (y) { y = Conv (x, W) }",
             "12 output channels of 24 products each are too few to gain"},
        Case{"g (float[N,8,9] x, float[32,1,3] W) => (y) { y = Conv <group = 8> (x, W) }",
             "4 output channels a group of 3 products each are too few to gain"},
        Case{"g (float[2,N,32] x, float[2,32,16] W) => (y) { y = MatMul (x, W) }", "its weight is not a matrix"},
        Case{"g (float[32,N] x, float[32,16] W) => (y) { y = Gemm <transA = 1> (x, W) }",
             "it transposes its activation"},
        Case{"g (float[N,32] x, float[32,16] W) => (y) { y = Gemm <alpha = 0.5> (x, W) }", "it scales its product"},
        Case{"g (float[4,32] x, float[32,16] W, float[4,1] B) => (y) { y = Gemm (x, W, B) }",
             "its bias is not one for each column"},
        Case{"g (float[16,32] x, float[32,16] W, float[16,1] B) => (y) { y = Gemm (x, W, B) }",
             "its bias is not one for each column"}}) {
    INFO(c.graph);
    CHECK(refusal(c.graph) == c.reason);
  }
  CHECK(refusal("g (float[N] x) => (y) { y = Relu (x) }").empty());  // of no interest: nothing is said
}

TEST_CASE("some operators move codes, some combine them, some clamp them at zero") {
  const auto moves = [](const char* g) { return quantize::moves_codes(view_of(test::fixture(g))); };
  CHECK(moves("g (float[1,2,4,4] x) => (y) { y = MaxPool <kernel_shape = [2, 2]> (x) }"));
  CHECK_FALSE(moves("g (float[1,2,4,4] x) => (y, i) { y, i = MaxPool <kernel_shape = [2, 2]> (x) }"));
  CHECK(moves("g (float[2,2] x) => (y) { y = Transpose (x) }"));
  CHECK(moves("g (float[1,2,2] x) => (y) <int64[2] I = {1, 0}> { y = Gather <axis = 1> (x, I) }"));
  CHECK_FALSE(moves("g (int64[4] i) => (y) <float[2,2] W = {1, 2, 3, 4}> { y = Gather (W, i) }"));
  CHECK_FALSE(moves("g (float[1,2,2] x, int64[2] i) => (y) { y = Gather <axis = 1> (x, i) }"));
  CHECK(moves("g (float[1,1,2,2] x, float[4] S) => (y) { y = Resize <mode = \"nearest\"> (x, , S) }"));
  CHECK_FALSE(moves("g (float[1,1,2,2] x, float[4] S) => (y) { y = Resize <mode = \"linear\"> (x, , S) }"));
  const auto combines = [](const char* g) { return quantize::combines_codes(view_of(test::fixture(g))); };
  CHECK(combines("g (float[2] x, float[2] z) => (y) { y = Add (x, z) }"));
  CHECK_FALSE(combines("g (float[2] x, float[2] z) => (y) { y = Sub (x, z) }"));
  CHECK_FALSE(combines("g (float[1,1,4,4] x) => (y) { y = AveragePool <kernel_shape = [2, 2], ceil_mode = 1> (x) }"));
  const auto clamps = [](const char* g) { return quantize::clamps_at_zero(view_of(test::fixture(g))); };
  CHECK(clamps("g (float[2] x) => (y) { y = Relu (x) }"));
  CHECK_FALSE(clamps("g (float[2] x, float L) => (y) { y = Clip (x, L) }"));
  CHECK_FALSE(clamps("g (float[2] x) => (y) { y = Clip (x) }"));
}
