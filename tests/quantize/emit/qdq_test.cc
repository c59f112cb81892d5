#include "quantize/emit/qdq.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Written {
  Model source, model;
  std::vector<quantize::LayerValue> layers;
};

/// The model with every activation on a grid over [-8, 8], or over [0, 8] where it is clamped.
Written write(const std::string& graph, const std::string& text = "w8a8") {
  Written w;
  w.source = test::fixture(graph);
  infer(w.source, standard_types);
  w.model = clone(w.source);
  const quantize::Spec spec = quantize::parse_spec(text);
  const quantize::Plan plan = quantize::make_plan(w.model, spec);
  std::map<std::string, quantize::Grid> grids;
  for (Value* v : plan.values) {
    const bool clamped = v->producer && plan.clamped.contains(v->producer);
    if (plan.owner(v) == v)
      grids[v->name] = quantize::activation_grid({clamped ? 0.0 : -8.0, 8}, spec.symmetric, spec.activation_bits);
  }
  w.layers = quantize::emit_qdq(w.model, plan, grids, spec).layers;
  infer(w.model, standard_types);
  CHECK(verify(w.model).empty());
  return w;
}

std::vector<Datum> run(const Model& model, const std::vector<Datum>& inputs) {
  return reference_backend()->compile(model, {})->run(inputs);
}

/// Results differ by no more than `steps` steps of the activations' grids, and do differ.
void require_near(const Written& w, const Dims& input, double steps) {
  const std::vector<Datum> inputs = {Datum(test::uniform(input, -1, 1, DType::kF32, 5))};
  const auto expected = run(w.source, inputs), actual = run(w.model, inputs);
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Difference d = difference(actual[i].tensor(), expected[i].tensor());
    CHECK(d.max_abs <= steps * 16 / 255);
    CHECK(d.max_expected > steps);
    CHECK(d.max_abs > 0);
  }
}

constexpr const char* kTwoConvolutions = R"(
    g (float[1,2,4,4] x, float[16,2,1,1] V, float[16] B, float[16,1,1,1] W) => (float[1,16,4,4] y) {
      a = Conv (x, V, B)
      r = Relu (a)
      y = Conv <group = 16> (r, W)
    })";

}  // namespace

TEST_CASE("QDQ pairs stand around the nodes that run on integers") {
  const Written w = write(kTwoConvolutions);
  CHECK(test::operators(*w.model.graph) ==
        "QuantizeLinear DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear DequantizeLinear "
        "DequantizeLinear Conv QuantizeLinear DequantizeLinear");
  CHECK(w.model.graph->outputs()[0]->name == "y");
  CHECK(w.model.graph->outputs()[0]->producer->is("DequantizeLinear"));
  require_near(w, {1, 2, 4, 4}, 3);
}

TEST_CASE("results are those of rounding by hand") {
  const Written w = write("g (float[1,16] x, float[16,16] W, float[16] B) => (float[1,16] y) { y = Gemm (x, W, B) }");
  const Tensor x = test::uniform({1, 16}, -1, 1, DType::kF32, 5);
  const Tensor y = run(w.model, {Datum(x)})[0].tensor();
  const quantize::Grid grid = quantize::activation_grid({-8, 8}, false);
  const Tensor& weight = *w.source.graph->find("W")->constant;
  const auto q = quantize::quantize_weight(weight, 1, quantize::pair_room(weight, 1));
  for (int64_t n = 0; n < 16; ++n) {
    const auto scale = static_cast<double>(q.scale.data<float>()[n]), step = static_cast<double>(grid.scale);
    double sum =
        std::nearbyint(static_cast<double>(w.source.graph->find("B")->constant->data<float>()[n]) / (scale * step));
    for (int64_t k = 0; k < 16; ++k)
      sum += std::nearbyint(static_cast<double>(x.data<float>()[k]) / step) * q.codes.data<int8_t>()[k * 16 + n];
    CHECK(static_cast<double>(y.data<float>()[n]) == Approx(sum * scale * step).epsilon(1e-5));
  }
}

TEST_CASE("types, axes and ranks are those that runtimes fuse") {
  const Written w = write(kTwoConvolutions);
  const std::vector<Node*> nodes = w.model.graph->nodes();
  const Node* conv = w.model.graph->find("y")->producer->input(0)->producer->input(0)->producer;
  REQUIRE(conv->is("Conv"));
  const Node* weight = conv->input(1)->producer;
  CHECK(weight->input(0)->constant->dtype() == DType::kI8);
  CHECK(weight->input(1)->constant->dims() == Dims{16});
  CHECK(std::get<int64_t>(weight->attr("axis")->value) == 0);
  CHECK(nodes[0]->input(2)->constant->dtype() == DType::kU8);
  const Written signs = write(kTwoConvolutions, "w8a8:symmetric;per_tensor");
  CHECK(signs.model.graph->nodes()[0]->input(2)->constant->dtype() == DType::kI8);
  CHECK(test::operators(*signs.model.graph).find("Relu") != std::string::npos);
  const Node* whole = signs.model.graph->find("y")->producer->input(0)->producer->input(0)->producer;
  CHECK(whole->input(1)->producer->input(1)->constant->rank() == 0);
  require_near(signs, {1, 2, 4, 4}, 3);
}

TEST_CASE("a value that only moves has the grid of its source, and floats are read unrounded") {
  const Written w = write(R"(
    g (float[1,16,4,4] x, float[16,16,1,1] V, float[16,16,1,1] W) => (float[1,16,2,2] y, float[1,16,4,4] z) {
      a = Conv (x, V)
      p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a)
      y = Conv (p, W)
      z = Exp (x)
    })");
  std::set<const Value*> scales;
  for (const Node* node : w.model.graph->nodes())
    if (node->is("QuantizeLinear")) scales.insert(node->input(1));
  CHECK(scales.size() == 3);  // x, a with p, y
  CHECK(w.model.graph->find("z")->producer->input(0)->name == "x");
}

TEST_CASE("layers that share a weight share its codes, and all names are unique") {
  const Written w = write(R"(
    g (float[1,16] x, float[16,16] W, float[16] B) => (float[1,16] y) {
      a = Gemm (x, W, B)
      b = Gemm (a, W, B)
      y = Gemm (b, W, B)
    })");
  int64_t bytes = 0;
  for (const Value* v : w.model.graph->initializers())
    if (v->constant->dtype() == DType::kI8) bytes += v->constant->bytes();
  CHECK(bytes < 2 * 256);
  std::set<std::string> names;
  for (const Node* node : w.model.graph->nodes())
    if (!node->name.empty()) CHECK(names.insert(node->name).second);
}

TEST_CASE("the layers' results are named in both models") {
  const Written w = write(kTwoConvolutions);
  REQUIRE(w.layers.size() == 2);
  for (const quantize::LayerValue& layer : w.layers) {
    CHECK(layer.op == "Conv");
    CHECK(w.source.graph->find(layer.source));
    const Value* result = w.model.graph->find(layer.result);
    REQUIRE(result);
    CHECK(result->producer->is("DequantizeLinear"));
  }
  CHECK(w.layers[0].source == "r");  // with the clamp that the grid replaces
  CHECK(w.layers[1].result == "y");
}

TEST_CASE("one number is one step of its own size, and a divisor a factor") {
  for (const char* spec : {"w8a8", "w8a8:symmetric"}) {
    const Written w = write(R"(
      g (float[1,16,4,4] x, float[16,16,1,1] V, float[16,16,1,1] W) => (float[1,16,4,4] y)
      <float four = {-4}, float third = {3}> {
        a = Conv (x, V)
        m = Mul (four, a)
        d = Div (m, third)
        y = Conv (d, W)
      })",
                            spec);
    std::vector<float> numbers;
    for (const Node* node : w.model.graph->nodes())
      if (node->is("Mul"))
        for (const Value* v : node->inputs()) {
          const Node* dq = v->producer;
          if (!dq->input(0)->constant) continue;
          const Tensor code = *dq->input(0)->constant, scale = *dq->input(1)->constant, zero = *dq->input(2)->constant;
          numbers.push_back((to_floats(code)[0] - to_floats(zero)[0]) * to_floats(scale)[0]);
        }
    CHECK(numbers == std::vector<float>{-4, 1.0f / 3});
    CHECK(test::operators(*w.model.graph).find("Div") == std::string::npos);
  }
}

TEST_CASE("few bits are for weights: constants that are multiplied element by element keep those of activations") {
  const Written w = write(R"(
    g (float[1,16,4,4] x, float[16,16,1,1] V, float[16,16,1,1] W, float[1,16,1,1] S) => (float[1,16,4,4] y) {
      a = Conv (x, V)
      m = Mul (a, S)
      y = Conv (m, W)
    })",
                          "w2a8:require_integer");
  for (const Node* node : w.model.graph->nodes())
    if (node->is("Mul")) {
      const Node* dq = node->input(1)->producer;
      double most = 0;
      for (const int64_t code : to_ints(*dq->input(0)->constant))
        most = std::max(most, std::abs(static_cast<double>(code)));
      CHECK(most == 127);
    }
}

TEST_CASE("what moves codes of few bits is not cut off again") {
  const Written w = write(R"(
    g (float[4,32] x, float[32,32] V, float[16,16] W, int64[3] S) => (float[4,2,16] y) {
      a = MatMul (x, V)
      r = Reshape (a, S)
      y = MatMul (r, W)
    })",
                          "w8a6:symmetric");
  const std::vector<Node*> nodes = w.model.graph->nodes();
  const auto clip = [](const Node* n) { return n->is("Clip"); };
  CHECK(std::count_if(nodes.begin(), nodes.end(), clip) == 2);  // of x and of a
}

TEST_CASE("widths between those of types are cut off before they are rounded") {
  struct Case {
    const char *spec, *graph;
    double steps;
  };
  for (const Case& c : {Case{"w8a6", kTwoConvolutions, 12}, Case{"w6a7:symmetric", kTwoConvolutions, 12},
                        Case{"w16a16", kTwoConvolutions, 1}, Case{"w5a16", kTwoConvolutions, 12}}) {
    const Written w = write(c.graph, c.spec);
    INFO(c.spec);
    const std::vector<Datum> input = {Datum(test::uniform({1, 2, 4, 4}, -1, 1, DType::kF32, 5))};
    const Difference d = difference(run(w.model, input)[0].tensor(), run(w.source, input)[0].tensor());
    CHECK(d.max_abs > 0);
    CHECK(d.max_abs <= c.steps * 16 / 255);
    CHECK(d.max_expected > 3);
    const quantize::Spec spec = quantize::parse_spec(c.spec);
    int clips = 0;
    for (const Node* node : w.model.graph->nodes()) {
      if (!node->is("QuantizeLinear")) continue;
      const Node* clip = node->input(0)->producer;
      if (!clip || !clip->is("Clip") || clip->input(1)->producer) continue;
      ++clips;
      const double scale = number_at(*node->input(1)->constant, 0);
      const double width = number_at(*clip->input(2)->constant, 0) - number_at(*clip->input(1)->constant, 0);
      CHECK(width / scale == Approx((1 << spec.activation_bits) - 1));
    }
    CHECK((clips > 0) == (spec.activation_bits < 8));
  }
}
