#include "quantize/quantize.h"

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
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
  for (const char* spec : {"w8a8", "w8a8:emit=qoperator", "w8a8:symmetric;per_tensor", "w8a8-dynamic", "w7a8", "w8a7",
                           "w8a16", "w16a16", "w8", "w6g32", "apot8", "fp8e4m3", "fp16", "bf16"}) {
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
