#include "quantize/plan.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// "nodes on integers, by their first outputs | values with grids (shared ones as value=owner) | clamps that go".
std::string plan_of(const std::string& graph, const std::string& spec = "w8a8") {
  Model model = test::fixture(graph);
  infer(model, standard_types);
  const quantize::Plan plan = quantize::make_plan(model, quantize::parse_spec(spec));
  std::vector<std::string> nodes, values, clamps;
  for (const Node* node : model.graph->nodes()) {
    if (plan.nodes.contains(node)) nodes.push_back(node->output(0)->name);
    if (plan.clamped.contains(node)) clamps.push_back(node->output(0)->name);
  }
  for (Value* v : plan.values) {
    Value* owner = plan.owner(v);
    values.push_back(owner == v ? v->name : v->name + "=" + owner->name);
  }
  std::sort(values.begin(), values.end());
  return join(nodes, " ") + " | " + join(values, " ") + " | " + join(clamps, " ");
}

}  // namespace

TEST_CASE("a chain of convolutions stays on integers, and clamps at zero are the grid's") {
  CHECK(plan_of(R"(g (float[1,16,9,9] x, float[16,16,3,3] V, float[16,16,3,3] W) => (float[1,16,5,5] y) {
          a = Conv (x, V)
          r = Relu (a)
          y = Conv (r, W)
        })") == "a y | r x y | r");
}

TEST_CASE("a clamp stays where another node reads what is clamped, and with signed grids") {
  const char* branch = R"(g (float[1,16,9,9] x, float[16,16,3,3] V, float[16,16,3,3] W)
                            => (float[1,16,5,5] y, float[1,16,7,7] s) {
          a = Conv (x, V)
          r = Relu (a)
          s = Softmax (a)
          y = Conv (r, W)
        })";
  CHECK(plan_of(branch) == "a y | a r x y | ");
  CHECK(plan_of(R"(g (float[1,16,9,9] x, float[16,16,3,3] V, float[16,16,3,3] W) => (float[1,16,5,5] y) {
          a = Conv (x, V)
          r = Relu (a)
          y = Conv (r, W)
        })",
                "w8a8:symmetric") == "a y | a r x y | ");
}

TEST_CASE("a residual sum and what moves codes between products are on integers") {
  CHECK(
      plan_of(
          R"(g (float[1,16,8,8] x, float[16,16,1,1] V, float[16,16,1,1] W, float[16,16,1,1] U) => (float[1,16,4,4] y) {
          a = Conv (x, V)
          b = Conv (a, W)
          s = Add (a, b)
          r = Relu (s)
          p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
          y = Conv (p, U)
        })") == "a b s p y | a b p=r r x y | r");
}

TEST_CASE("a matrix product gives floats unless an integer node reads them") {
  CHECK(plan_of(R"(g (float[4,32] x, float[32,16] V, float[16,16] W) => (float[4,16] y) {
          a = MatMul (x, V)
          r = Relu (a)
          y = MatMul (r, W)
        })") == "a y | r x | r");
  CHECK(plan_of(R"(g (float[4,32] x, float[32,16] V, float[16,16] W) => (float[4,16] y) {
          a = MatMul (x, V)
          e = Exp (a)
          y = MatMul (e, W)
        })") == "a y | e x | ");
}

TEST_CASE("a Gemm that runtimes would fuse with its activation gives integers") {
  CHECK(plan_of(R"(g (float[4,32] x, float[32,16] V, float[16] B) => (float[4,16] y) {
          a = Gemm (x, V, B)
          y = Relu (a)
        })") == "a | x y | y");
  CHECK(plan_of(R"(g (float[4,32] x, float[32,16] V, float[16] B) => (float[4,16] y) {
          a = Gemm (x, V, B)
          y = Tanh (a)
        })") == "a | a x | ");
  CHECK(
      plan_of("g (float[4,32] x, float[32,16] V, float[16] B) => (float[4,16] y) { a = Gemm (x, V, B) y = Exp (a) }") ==
      "a | x | ");
}

TEST_CASE("nothing is quantized that only float nodes read") {
  // The Reshape's input is float: its output is quantized for the product, the Reshape itself stays.
  CHECK(plan_of(R"(g (float[4,32] x, int64[2] S, float[32,16] W) => (float[4,16] y) {
          e = Exp (x)
          t = Transpose <perm = [1, 0]> (e)
          u = Transpose <perm = [1, 0]> (t)
          y = MatMul (u, W)
        })") == "y | u | ");
  // One operand of the Mul is float: neither is the other made integer for it.
  CHECK(plan_of(R"(g (float[4,32] x, float[32,16] V, float[16,16] W) => (float[4,16] y) {
          a = MatMul (x, V)
          e = Exp (a)
          m = Mul (a, e)
          y = MatMul (m, W)
        })") == "a y | m x | ");
  // What follows the last product.
  CHECK(plan_of(R"(g (float[4,32] x, float[32,16] V, float[32,16] W) => (float[4,16] y) {
          a = MatMul (x, V)
          b = MatMul (x, W)
          y = Add (a, b)
        })") == "a b | x | ");
}

TEST_CASE("nodes are chosen by name, and those left out have their reason") {
  Model model = test::fixture(R"(g (float[4,32] x, float[32,32] V, float[32,16] W, float[32,4] U)
                                   => (float[4,16] y, float[4,4] z) {
          [stem] a = MatMul (x, V)
          [head] y = MatMul (a, W)
          [tiny] z = MatMul (a, U)
        })");
  infer(model, standard_types);
  const auto left = [&](const char* spec) { return quantize::make_plan(model, quantize::parse_spec(spec)).left; };
  const std::string tiny = "its weight of 32x4 is too small to gain", by_name = "excluded by --only or --skip";
  using Left = std::map<std::string, std::string>;
  CHECK(left("w8a8") == Left{{"MatMul 'tiny'", tiny}});
  CHECK(left("w8a8:skip=he*") == Left{{"MatMul 'head'", by_name}, {"MatMul 'tiny'", tiny}});
  CHECK(left("w8a8:only=head") == Left{{"MatMul 'stem'", by_name}, {"MatMul 'tiny'", tiny}});
}

TEST_CASE("sums and products with one number, and quotients by one, combine codes") {
  const char* hard_swish = R"(g (float[1,16,4,4] x, float[16,16,1,1] V, float[16,16,1,1] W) => (float[1,16,4,4] y)
      <float three = {3}, float zero = {0}, float six = {6}> {
          a = Conv (x, V)
          p = Add (a, three)
          c = Clip (p, zero, six)
          m = Mul (a, c)
          d = Div (m, six)
          y = Conv (d, W)
        })";
  CHECK(plan_of(hard_swish) == "a p m d y | a c d m x y | c");
  // A sum that no clamp at zero follows would spend its codes on the way from zero; so would the clamp by itself.
  CHECK(plan_of(hard_swish, "w8a8:symmetric") == "a y | a d x y | ");
  CHECK(plan_of(R"(g (float[1,16,4,4] x, float[16,16,1,1] V, float[16,16,1,1] W) => (float[1,16,4,4] y)
      <float three = {3}, float[16,1,1] many = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> {
          a = Conv (x, V)
          p = Add (a, three)
          y = Conv (p, W)
        })") == "a y | a p x y | ");
}

TEST_CASE("for runtimes that place integers themselves, what products and their sums read is rounded, and no more") {
  const char* residual = R"(g (float[1,16,8,8] x, float[16,16,1,1] V, float[16,16,1,1] W, float[16,16,1,1] U)
                               => (float[1,16,4,4] y) {
          a = Conv (x, V)
          r = Relu (a)
          b = Conv (r, W)
          s = Add (b, r)
          p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (s)
          y = Conv (p, U)
        })";
  CHECK(plan_of(residual, "w8a8:target=tensorrt") == "a b s y | p r x | ");
  CHECK(plan_of(residual, "w8a8:target=openvino") == "a b s y | p r x | ");
}

TEST_CASE("where nothing may stay float, every value and every operand has a grid") {
  const char* net = R"(g (float[4,8] x, float[8,4] V, float[4] W) => (float[4,4] y, int64[2] n) {
          a = MatMul (x, V)
          r = Relu (a)
          t = Transpose <perm = [1, 0]> (r)
          e = Softmax (t)
          y = Sub (e, W)
          n = Shape (y)
        })";
  CHECK(plan_of(net, "w8a8:require_integer") == "a t e y n | e r t=r x y | r");
  Model model = test::fixture(net);
  infer(model, standard_types);
  const quantize::Plan plan = quantize::make_plan(model, quantize::parse_spec("w8a8:require_integer;skip=e"));
  REQUIRE(plan.constants.size() == 1);
  CHECK(plan.constants.begin()->first->output(0)->name == "y");
  CHECK(plan.constants.begin()->second == std::vector<int>{1});
  REQUIRE(plan.left.size() == 1);
  CHECK(plan.left.begin()->second == "excluded by --only or --skip");
  // What an output is given as is no computing.
  const char* cast = "g (float[4,8] x) => (float16[4,8] y) { e = Softmax (x)  y = Cast <to = 10> (e) }";
  CHECK(plan_of(cast, "w8a8:require_integer") == "e y | e x | ");
  Model half = test::fixture(cast);
  infer(half, standard_types);
  CHECK(quantize::make_plan(half, quantize::parse_spec("w8a8:require_integer")).left.empty());
}
