#include "quantize/restore/restore.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/rewrite/qdq/passes.h"
#include "core/tensor/cast.h"
#include "quantize/quantize.h"
#include "quantize/restore/passes.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

const std::unique_ptr<Backend>& backend() {
  static const std::unique_ptr<Backend> reference = reference_backend();
  return reference;
}

/// Quantized by our own rows of formats, which write what other tools write.
Model quantized(const Model& source, const std::string& spec) {
  static const Runner runner{*backend(), {}};
  const auto data = random_dataset(model_inputs(source), {.count = 8, .seed = 3});
  quantize::Means means;
  means.runner = &runner;
  means.passes = test::pass_context();
  means.data = data.get();
  means.error_samples = 0;
  return quantize::quantize(source, quantize::parse_spec(spec), means).model;
}

Tensor run(const Model& model) {
  const auto data = random_dataset(model_inputs(model), {.count = 1, .seed = 9});
  return backend()->compile(model, {})->run(data->batch(0, 1).inputs)[0].tensor();
}

constexpr const char* kNet = R"(
    g (float[1,3,8,8] x, float[16,3,3,3] V, float[16,16,3,3] U, float[32,256] W, float[32] B, float[32,40] M)
        => (float[1,40] y) {
      [stem] a = Conv <pads = [1,1,1,1]> (x, V)
      r = Relu (a)
      [deep] c = Conv <pads = [1,1,1,1]> (r, U)
      s = Add (r, c)
      p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (s)
      f = Flatten (p)
      [head] h = Gemm <transB = 1> (f, W, B)
      [last] y = MatMul (h, M)
    })";

Model restored(Model model) {
  CHECK(quantize::restore_floats(model, test::pass_context()) > 0);
  CHECK(verify(model).empty());
  return model;
}

}  // namespace

TEST_CASE("what every form of codes computes is read back: floats that are near the float model") {
  const Model source = test::fixture(kNet);
  const Tensor expected = run(source);
  for (const char* spec :
       {"w8a8", "w8a8:symmetric", "w8a8:per_tensor", "w8a8:emit=qoperator", "w8a8:emit=qoperator;target=onnx", "w7a6",
        "w4a8", "w16a16", "w8a8-dynamic", "w8a8-dynamic:per_token", "w8:emit=qdq", "w4g32:emit=matmulnbits",
        "w4g32:emit=qdq", "nf4", "fp8e4m3", "codebook4", "w3"}) {
    INFO(spec);
    Model coded = quantized(source, spec);
    const Tensor before = run(coded);
    quantize::restore_floats(coded, test::pass_context());
    CHECK(verify(coded).empty());
    CHECK(quantize::first_quantized(coded) == nullptr);
    const std::string ops = test::operators(*coded.graph);
    CHECK(ops.find("Integer") == std::string::npos);
    CHECK(ops.find("Gather") == std::string::npos);
    // Activations are rounded no more, so that what is left is the error of the weights.
    CHECK(difference(run(coded), expected).sqnr_db >= difference(before, expected).sqnr_db - 1);
    CHECK(difference(run(coded), before).sqnr_db > 25);
  }
}

TEST_CASE("weights that standard operators put together are seen as quantized") {
  const Model source = test::fixture(kNet);
  CHECK(quantize::first_quantized(source) == nullptr);
  for (const char* spec : {"w3", "nf4:emit=gather", "codebook3"}) {
    INFO(spec);
    CHECK(quantize::first_quantized(quantized(source, spec)));
  }
  // Weights that are only moved, widened or computed from floats are not.
  CHECK(quantize::first_quantized(test::fixture(
            "g (float[N,4] x, float[3,4] W, float[1] S) => (float[N,3] y) { s = Mul (W, S)  t = Transpose (s)  "
            "y = MatMul (x, t) }")) == nullptr);
}

TEST_CASE("weights alone are read back to the numbers that their codes stand for") {
  const Model source = test::fixture(kNet);
  for (const char* spec :
       {"w4g32:accuracy_level=0", "w8:emit=qdq", "nf4", "fp4", "w4g32:emit=qdq;symmetric", "fp8e5m2:emit=qdq"}) {
    INFO(spec);
    const Model coded = quantized(source, spec);
    CHECK(difference(run(restored(clone(coded))), run(coded)).sqnr_db > 100);
  }
}

TEST_CASE("codes that begin at zero were a Relu, which stays where nothing else cuts") {
  test::Net net;
  Value* x = net.input({2, 6});
  net.output(net.op("Neg", {net.rounded(x, 0.01, 0)}));
  infer(net.model, standard_types);
  CHECK(test::operators(*restored(clone(net.model)).graph) == "Clip Neg");
  CHECK(difference(run(restored(clone(net.model))), run(net.model)).max_abs <= 0.0051);
  test::Net cut;
  cut.output(cut.op("Neg", {cut.rounded(cut.op("Sigmoid", {cut.input({2, 6})}), 0.01, 0)}));
  CHECK(test::operators(*restored(std::move(cut.model)).graph) == "Sigmoid Neg");
  test::Net both;
  both.output(both.op("Neg", {both.rounded(both.input({2, 6}), 0.01, 100)}));
  CHECK(test::operators(*restored(std::move(both.model)).graph) == "Neg");
}

TEST_CASE("codes are decoded by tensor, by axis and by blocks") {
  const Tensor codes = test::tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, DType::kI8);
  CHECK(to_doubles(quantize::decoded(codes, test::tensor({}, {0.5}), nullptr, 1)) ==
        std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4});
  const Tensor zeros = test::tensor({2}, {1, 5}, DType::kI8);
  CHECK(to_doubles(quantize::decoded(codes, test::tensor({2}, {1, 10}), &zeros, -2)) ==
        std::vector<double>{0, 1, 2, 3, 0, 10, 20, 30});
  const Tensor blocks = test::tensor({2, 2}, {1, 2, 3, 4});
  CHECK(to_doubles(quantize::decoded(codes, blocks, nullptr, 1, 3)) == std::vector<double>{1, 2, 3, 8, 15, 18, 21, 32});
}

TEST_CASE("rows that are looked up in a stored table are those of a table of floats") {
  test::Net net;
  Value* indices = net.graph().add_input("i", Type::tensor(DType::kI64, SymDims{5}));
  net.output(net.op("Gather", {net.weights({7, 24}, 0), indices}));
  infer(net.model);
  Model stored = clone(net.model);
  REQUIRE(run_pass(stored, qdq::gather_before_dequantize, test::pass_context()).applied == 1);
  const Model floats = restored(std::move(stored));
  CHECK(test::operators(*floats.graph) == "Gather");
  CHECK(test::changed_by(net.model, floats).max_abs == 0);
}

TEST_CASE("weights that are quantized as the model runs are floats still") {
  const auto layer = [](const std::string& weights) {
    return test::fixture("g (float[2,4] x, float[4,3] W) => (float[2,3] y) <float s = {0.25}, int8 z = {0}> {" +
                         weights + "}");
  };
  const Model floats =
      restored(layer("q = QuantizeLinear (W, s, z)  w = DequantizeLinear (q, s, z)  y = MatMul (x, w)"));
  CHECK(test::operators(*floats.graph) == "MatMul");
  CHECK(test::changed_by(layer("y = MatMul (x, W)"), floats).max_abs == 0);
}

TEST_CASE("codes that the model gives stay, and what is not understood is named") {
  test::Net net;
  net.output(net.quantize(net.rounded(net.input({2, 6}), 0.01, 100), 0.02, 10));
  CHECK(test::operators(*restored(std::move(net.model)).graph) == "QuantizeLinear");
  test::Net odd;  // steps that are computed
  Value* x = odd.input({2, 6});
  Value* step = odd.op("ReduceMax", {x}, {{"keepdims", int64_t{0}, ""}});
  odd.output(odd.op("DequantizeLinear", {odd.op("QuantizeLinear", {x, step}), step}));
  const std::string refused = test::error_of([&] { quantize::restore_floats(odd.model, test::pass_context()); });
  CHECK(test::contains(refused, "QuantizeLinear"));
  CHECK(test::contains(refused, "cannot be read back"));
}

TEST_CASE("a quantized model is quantized anew") {
  const Model source = test::fixture(kNet);
  const Model again = quantized(quantized(source, "w8a8"), "w4g32:requantize");
  CHECK(test::operators(*again.graph).find("MatMulNBits") != std::string::npos);
  CHECK(difference(run(again), run(source)).sqnr_db > 20);
  const Model small = quantized(quantized(source, "w8:emit=qdq"), "w8a8:requantize");
  CHECK(difference(run(small), run(source)).sqnr_db > 28);
}

TEST_CASE("QONNX's operators become standard ones that compute the same") {
  Model model = test::fixture(R"(
    g (float[2,8] x, float[8,6] W, float S, float Z, float B, float A, float[6] P) => (float[2,6] y) {
      q = Quant <signed = 0, narrow = 0, rounding_mode = "ROUND"> (x, S, Z, B)
      w = Quant <signed = 1, narrow = 1, rounding_mode = "FLOOR"> (W, A, Z, B)
      m = MatMul (q, w)
      y = BipolarQuant (m, P)
    })",
                              11);
  const auto set = [&](const char* name, float x) { model.graph->find(name)->constant = Tensor::scalar(x); };
  set("S", 0.25F);
  set("Z", 0);
  set("B", 2);
  set("A", 0.5F);
  Tensor& w = *model.graph->find("W")->constant;
  for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<float>()[i] = static_cast<float>(i % 13 - 6) / 4;
  for (Node* node : model.graph->nodes())
    if (node->op != "MatMul") node->domain = "qonnx.custom_op.general";
  model.set_opset("qonnx.custom_op.general", 1);
  const Model made = restored(clone(model));
  const Tensor y = run(made);
  const Tensor x = random_dataset(model_inputs(model), {.count = 1, .seed = 9})->batch(0, 1).inputs[0].tensor();
  const std::vector<float> scale = to_floats(*model.graph->find("P")->constant);
  int negative = 0;
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t c = 0; c < 6; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < 8; ++k) {
        const double code =
            std::nearbyint(std::clamp(static_cast<double>(x.data<float>()[r * 8 + k]) / 0.25, 0.0, 3.0));
        sum += code * 0.25 * std::clamp(std::floor(static_cast<double>(w.data<float>()[k * 6 + c]) / 0.5), -1.0, 1.0) *
               0.5;
      }
      const float expected = sum < 0 ? -scale[static_cast<size_t>(c)] : scale[static_cast<size_t>(c)];
      CHECK(y.data<float>()[r * 6 + c] == expected);
      negative += sum < 0;
    }
  CHECK(negative > 0);
  CHECK(negative < 12);
}
