#include "quantize/quantize.h"

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Quantizes on the reference backend with generated data.
struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};

  quantize::Quantized run(const Model& source, const std::string& spec, bool with_data = true) const {
    const auto data = with_data ? random_dataset(model_inputs(source), {.count = 12, .seed = 3}) : nullptr;
    quantize::Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = data.get();
    means.calibration_samples = 8;
    means.error_samples = 4;
    quantize::Quantized made = quantize::quantize(source, quantize::parse_spec(spec), means);
    CHECK(verify(made.model).empty());
    return made;
  }
};

constexpr const char* kNet = R"(
    g (float[1,3,8,8] x, float[16,3,3,3] V, float[16] S, float[16] B, float[16] M, float[16] R, float[32,576] W)
        => (float[1,32] y) {
      [stem] a = Conv (x, V)
      n = BatchNormalization (a, S, B, M, R)
      r = Relu (n)
      f = Flatten (r)
      [head] y = Gemm <transB = 1> (f, W)
    })";

}  // namespace

TEST_CASE("w8a8 fuses, raises the opset, calibrates and reports its layers") {
  const Model source = test::fixture(kNet, 11);
  const quantize::Quantized made = Bench().run(source, "w8a8");
  CHECK(made.layers == 2);
  CHECK(made.samples == 8);
  CHECK(made.model.opset() >= 13);
  const std::string ops = test::operators(*made.model.graph);
  CHECK(ops.find("BatchNormalization") == std::string::npos);
  CHECK(ops.find("Relu") == std::string::npos);
  REQUIRE(made.errors.size() == 2);
  CHECK(made.errors[0].difference.sqnr_db <= made.errors[1].difference.sqnr_db);
  for (const auto& e : made.errors) {
    CHECK(e.difference.sqnr_db > 30);  // 8 bits
    CHECK(e.difference.sqnr_db < 70);  // but not float
  }
  CHECK(source.opset() == 11);  // the source is as it was
}

TEST_CASE("every format gives a model that computes nearly the same") {
  const Model source = test::fixture(kNet);
  const auto data = random_dataset(model_inputs(source), {.count = 1, .seed = 9});
  const auto inputs = data->batch(0, 1).inputs;
  const Bench bench;
  const Tensor expected = bench.backend->compile(source, {})->run(inputs)[0].tensor();
  for (const char* spec : {"w8a8", "w8a8:emit=qoperator", "w8a8:target=openvino", "w8a8:target=tensorrt",
                           "w4g32:target=tensorrt", "w8a8:require_integer", "w8a8:symmetric;per_tensor", "w8a8-dynamic",
                           "w7a8", "w8a7", "w8a16", "w16a16", "w8", "w6g32", "apot8", "fp8e4m3", "fp16", "bf16"}) {
    INFO(spec);
    const quantize::Quantized made = bench.run(source, spec);
    const Difference d = difference(bench.backend->compile(made.model, {})->run(inputs)[0].tensor(), expected);
    CHECK(d.sqnr_db > 28);
    CHECK(d.max_abs > 0);
    CHECK(made.layers > 0);
    CHECK(static_cast<int64_t>(made.errors.size()) == made.layers);
  }
}

TEST_CASE("where nothing gains the model stays as it was, and a warning says so") {
  const Model source = test::fixture("g (float[4] x) => (float[4] y) { y = Softmax (x) }", 10);
  const quantize::Quantized made = Bench().run(source, "w8a8");
  CHECK(made.layers == 0);
  CHECK(made.model.opset() == 10);
  CHECK(test::operators(*made.model.graph) == "Softmax");
  REQUIRE(made.warnings.size() == 1);
  CHECK(test::contains(made.warnings[0], "no layer gains"));
}

TEST_CASE("w8a8 without data, and a model that is quantized already, are refused") {
  const Bench bench;
  const std::string missing = test::error_of([&] { bench.run(test::fixture(kNet), "w8a8", false); });
  CHECK(test::contains(missing, "w8a8 needs data"));
  CHECK(test::contains(missing, "w8a8-dynamic"));
  const Model done = test::fixture("g (float[4] x, float Z) => (uint8[4] y) { y = QuantizeLinear (x, Z) }");
  CHECK(test::contains(test::error_of([&] { bench.run(done, "w8"); }), "quantized already"));
  CHECK(bench.run(test::fixture(kNet), "w8", false).errors.empty());  // needs none, and measures nothing
}

TEST_CASE("layers in bodies stay float, and a warning counts them") {
  const Model source = test::fixture(R"(
    g (bool c, float[1,3,8,8] x, float[16,3,3,3] V, float[16,3,3,3] W) => (float[1,16,6,6] y, float[1,16,6,6] z) {
      z = Conv (x, V)
      y = If (c) <then_branch = t () => (float[1,16,6,6] a) { a = Conv (x, W) },
                  else_branch = e () => (float[1,16,6,6] b) { b = Identity (z) }>
    })");
  const quantize::Quantized made = Bench().run(source, "w8a8");
  CHECK(made.layers == 1);
  REQUIRE(made.warnings.size() == 1);
  CHECK(test::contains(made.warnings[0], "1 layers in the bodies"));
}

TEST_CASE("weights that old files list as inputs become constants, settings do not") {
  Model source = test::fixture(
      "g (float[4,32] x, float[32,16] W, float K) => (float[4,16] y) {\n"
      "  m = MatMul (x, W)\n  y = Mul (m, K)\n}");
  Graph& graph = *source.graph;
  Model old = parse_text(R"(<ir_version: 3, opset_import: ["" : 13]>
    g (float[4,32] x, float[32,16] w, float k) => (float[4,16] y) { m = MatMul (x, w)  y = Mul (m, k) })");
  old.graph->find("w")->constant = graph.find("W")->constant;
  old.graph->find("k")->constant = graph.find("K")->constant;
  const quantize::Quantized made = Bench().run(old, "w8a8");
  CHECK(made.layers == 1);
  REQUIRE(made.model.graph->inputs().size() == 2);
  CHECK(made.model.graph->inputs()[1]->name == "k");
  CHECK(test::contains(made.warnings.at(0), "1 weights that were inputs"));
}

TEST_CASE("a model in 16 bits is widened before its layers become int8") {
  const Model source = test::fixture(R"(
    g (float16[1,32] x, float16[32,16] W) => (float16[1,16] y) { y = MatMul (x, W) })");
  const quantize::Quantized made = Bench().run(source, "w8a8");
  CHECK(made.layers == 1);
  CHECK(made.model.graph->outputs()[0]->type.dtype == DType::kF16);
  CHECK(test::contains(made.warnings.at(0), "16 bits"));
}

TEST_CASE("for TensorRT all codes are signed around zero, and biases stay floats") {
  const quantize::Quantized made = Bench().run(test::fixture(kNet), "w8a8:target=tensorrt");
  CHECK(made.layers == 2);
  CHECK(test::contains(test::operators(*made.model.graph), "Relu"));
  for (const Node* node : made.model.graph->nodes()) {
    if (node->is("Conv")) CHECK(node->input(2)->known_constant());
    if (!node->is("QuantizeLinear") && !node->is("DequantizeLinear")) continue;
    CHECK((node->is("QuantizeLinear") ? node->output(0) : node->input(0))->type.dtype == DType::kI8);
    if (const Value* zeros = node->input(2))
      for (const int64_t zero : to_ints(*zeros->constant)) CHECK(zero == 0);
    else
      CHECK_FALSE(node->input(0)->constant);
  }
}

TEST_CASE("where integers are required every operator is between them, or the first that is not is named") {
  const Model source = test::fixture(R"(
    g (float[2,3,8,8] x, float[4,3,3,3] V, float[4] B, float[4,1,1] S, float[2,4,6,6] L) => (float[2,4,6,6] y) {
      a = Conv (x, V, B)
      t = Tanh (a)
      s = Sub (t, S)
      d = Div (s, L)
      y = Softmax <axis = 1> (d)
    })");
  const quantize::Quantized made = Bench().run(source, "w8a8:require_integer");
  for (const Node* node : made.model.graph->nodes()) {
    if (node->is("QuantizeLinear") || node->is("DequantizeLinear")) continue;
    for (const Value* x : node->inputs()) CHECK(x->producer->is("DequantizeLinear"));
    for (const Use& use : node->output(0)->uses) CHECK(use.node->is("QuantizeLinear"));
    CHECK_FALSE(node->output(0)->is_output());
  }
  const Model loop = test::fixture(R"(
    g (bool c, float[4] x) => (float[4] y) {
      y = If (c) <then_branch = t () => (float[4] a) { a = Neg (x) },
                  else_branch = e () => (float[4] b) { b = Exp (x) }>
    })");
  const std::string refused = test::error_of([&] { Bench().run(loop, "w8a8:require_integer"); });
  CHECK(test::contains(refused, "would stay in floats"));
}

TEST_CASE("where integers are required, products that are no layers are between them too") {
  const Model source = test::fixture(
      "g (float[4,48] x, float[48,6] W, float[6] B) => (float[4,6] y) { "
      "y = Gemm <beta = 0.5> (x, W, B) }");
  const quantize::Quantized made = Bench().run(source, "w8a8:require_integer");
  CHECK(made.model.graph->find("y")->producer->is("DequantizeLinear"));
}

TEST_CASE("constants of sizes that one scale cannot hold are exact where integers are required") {
  Model source = test::fixture(R"(
    g (float[2,3,8,8] x, float[4,3,3,3] V, float[4,1,1] S, float[1,4,1,1] M) => (float[2,4,6,6] y) {
      a = Conv (x, V)
      t = Tanh (a)
      s = Add (t, S)
      u = Sigmoid (s)
      m = Mul (u, M)
      y = Tanh (m)
    })");
  const std::vector<float> numbers = {0.001F, -1, 50, 400};
  source.graph->find("S")->constant = Tensor::of<float>({4, 1, 1}, numbers);
  source.graph->find("M")->constant = Tensor::of<float>({1, 4, 1, 1}, numbers);
  const quantize::Quantized made = Bench().run(source, "w8a8:require_integer");
  int seen = 0;
  for (const Node* node : made.model.graph->nodes()) {
    const Tensor* codes = node->input(0)->known_constant();
    if (!node->is("DequantizeLinear") || !codes || codes->size() != 4) continue;
    const std::vector<float> code = to_floats(*codes), scale = to_floats(*node->input(1)->known_constant());
    REQUIRE(scale.size() == 4);
    for (size_t c = 0; c < 4; ++c)
      CHECK(static_cast<double>(code[c] * scale[c]) == Approx(static_cast<double>(numbers[c])).epsilon(1e-6));
    ++seen;
  }
  CHECK(seen == 2);
}

TEST_CASE("the opset is what was asked for, or refused") {
  const Model source = test::fixture(kNet, 11);
  const Bench bench;
  CHECK(bench.run(source, "w8a8:opset=17").model.opset() == 17);
  CHECK(bench.run(source, "w4g32:target=onnx;opset=13").model.opset() == 13);
  CHECK(bench.run(source, "w4g32:target=onnx").model.opset() == 21);
  const std::string refused = test::error_of([&] { bench.run(source, "w16a16:opset=20"); });
  CHECK(test::contains(refused, "w16a16 needs opset 21"));
  const Model old = test::fixture("g (float[4,32] x, float[32,16] W) => (float[4,16] y) { y = MatMul (x, W) }", 5);
  CHECK(bench.run(old, "fp16").model.opset() == 6);  // before it the type of a Cast is a string
  CHECK(test::contains(test::error_of([&] { bench.run(old, "fp16:opset=5"); }), "fp16 needs opset 6"));
}
