#include "quantize/bias_correction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/base/rng.h"
#include "core/calib/channels.h"
#include "core/data/random.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "quantize/quantize.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

constexpr const char* kNet = R"(
  g (float[N,3,8,8] x, float[32,3,3,3] V, float[32] A, float[32,32,3,3] W, float[20,512] G, float[1,20] C) => (float[N,20] y) {
    [first] a = Conv (x, V, A)
    b = Relu (a)
    c = Conv (b, W)
    d = Relu (c)
    f = Flatten (d)
    [head] y = Gemm <transB = 1> (f, G, C)
  })";

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source = test::fixture(kNet);
  test::MemoryData data{test::uniform({24, 3, 8, 8}, 0, 1), std::nullopt};

  Bench() {
    uint64_t seed = 10;
    for (const char* name : {"V", "W", "G"}) {
      Tensor& t = *source.graph->find(name)->constant;
      t = test::uniform(t.dims(), -0.2, 0.25, DType::kF32, ++seed);
    }
  }

  quantize::Quantized run(const std::string& spec, const Dataset* given, bool generated = false) const {
    quantize::Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = given;
    means.generated = generated;
    return quantize::quantize(source, quantize::parse_spec(spec), means);
  }

  std::vector<double> means(const Model& model) const {
    const std::string y = "y";
    return channel_statistics(model, {&y, 1}, {&runner, &data, 24})[0].means;
  }

  /// How far the means of the outputs are from the source's.
  double moved(const Model& model) const {
    const std::vector<double> was = means(source), is = means(model);
    double sum = 0;
    for (size_t c = 0; c < was.size(); ++c) sum += std::fabs(was[c] - is[c]);
    return sum;
  }
};

}  // namespace

TEST_CASE("corrected biases bring the means of the outputs back, in integers and in weights alone") {
  const Bench bench;
  for (const std::string spec :
       {"w8a8:per_tensor", "w4a8", "w3", "w2:per_tensor", "w4g32:accuracy_level=0", "nf4g32", "w8a8-dynamic"}) {
    INFO(spec);
    const quantize::Quantized plain = bench.run(spec, &bench.data);
    const quantize::Quantized made =
        bench.run(spec + (spec.find(':') == std::string::npos ? ":" : ";") + "correct_bias", &bench.data);
    CHECK(plain.corrected == 0);
    CHECK(made.corrected == 3);
    CHECK(bench.moved(made.model) < 0.25 * bench.moved(plain.model));
    for (const Node* node : made.model.graph->nodes())
      if (node->is("Conv")) CHECK(node->input(2) != nullptr);
  }
}

TEST_CASE("a bias in codes moves by whole steps, one in floats by what is asked") {
  const Bench bench;
  Model original = clone(bench.source), model = clone(bench.source);
  const quantize::Spec spec = quantize::parse_spec("w8a8");
  const auto layers = quantize::give_biases(original, spec);
  quantize::give_biases(model, spec);
  REQUIRE(layers.size() == 3);
  CHECK(layers[1].node == "c");
  CHECK(layers[1].output == "c");
  CHECK(original.graph->nodes()[2]->input(2)->constant->dims() == Dims{32});
  Tensor& moved = *model.graph->find("A")->constant;
  for (int64_t i = 0; i < 32; ++i) moved.mutable_data<float>()[i] += 0.25F;
  CHECK(quantize::correct_biases(model, original, layers, {&bench.runner, &bench.data, 24}) == 3);
  const std::vector<float> is = to_floats(*model.graph->nodes()[0]->input(2)->constant),
                           was = to_floats(*bench.source.graph->find("A")->constant);
  for (size_t c = 0; c < 32; ++c) CHECK(static_cast<double>(is[c]) == Approx(static_cast<double>(was[c])).margin(1e-4));
}

TEST_CASE("corrected biases take no room beyond the budget, and none that they replace is left") {
  Bench bench;
  bench.source = test::fixture(R"(
    g (float[N,40] x, float[40,64] V, float[64,64] W, float[64,32] G, float[64] A, float C) => (float[N,32] y) {
      a = Gemm <beta = 1.0> (x, V, A)
      r = Relu (a)
      b = Gemm <beta = 2.0> (r, W, A)
      s = Relu (b)
      [head] y = Gemm (s, G, C)
    })");
  bench.data = test::MemoryData(test::uniform({24, 40}, 0, 1), std::nullopt);
  const int64_t all = written_size(bench.source, "model.onnx");
  for (int64_t allowed = all; allowed > all / 3; allowed -= all / 12) {
    INFO(allowed);
    const quantize::Quantized made = bench.run(fmt::format("mixed:size={};correct_bias", allowed), &bench.data);
    CHECK(made.corrected == 3);
    CHECK(written_size(made.model, "model.onnx") <= allowed);
    for (const Value* v : made.model.graph->initializers()) CHECK_FALSE(v->uses.empty());
  }
}

TEST_CASE("a Gemm whose bias needs no factor keeps it") {
  Model model =
      test::fixture(R"(g (float[2,3] x, float[3,2] W, float[2] B) => (y) { y = Gemm <beta = 1.0> (x, W, B) })");
  quantize::give_biases(model, quantize::parse_spec("w4"));
  CHECK(model.graph->nodes()[0]->input(2)->name == "B");
}

TEST_CASE("without data biases are corrected by what BatchNormalizations say of what layers are given") {
  Bench bench;
  bench.source = test::fixture(R"(
    g (float[N,8,6,6] x, float[8] S, float[8] B, float[8] M, float[8] R, float[32,8,3,3] V, float[24,32] G) => (float[N,24] y) {
      n = BatchNormalization (x, S, B, M, R)
      r = Relu (n)
      [first] a = Conv (r, V)
      p = GlobalAveragePool (a)
      f = Flatten (p)
      [head] y = Gemm <transB = 1> (f, G)
    })");
  uint64_t seed = 40;
  for (const char* name : {"V", "G"}) {
    Tensor& t = *bench.source.graph->find(name)->constant;
    t = test::uniform(t.dims(), -0.2, 0.25, DType::kF32, ++seed);
  }
  *bench.source.graph->find("M")->constant = Tensor::of<float>({8}, std::vector<float>(8, 2));
  *bench.source.graph->find("R")->constant = Tensor::of<float>({8}, std::vector<float>(8, 9));
  Rng rng(3);
  std::vector<float> x(size_t{24} * 8 * 36);
  for (float& number : x) number = static_cast<float>(2 + 3 * rng.normal());
  bench.data = test::MemoryData(Tensor::of<float>({24, 8, 6, 6}, x), std::nullopt);
  for (const std::string spec : {"w2:per_tensor", "w3:emit=fake", "w4:per_tensor;target=onnx"}) {
    INFO(spec);
    const quantize::Quantized plain = bench.run(spec + ";only=first", nullptr),
                              made = bench.run(spec + ";only=first;correct_bias", nullptr);
    CHECK(made.corrected == 1);
    CHECK(bench.moved(made.model) < 0.2 * bench.moved(plain.model));
  }
}

TEST_CASE("a Gemm that scales its bias is corrected by what its outputs are off") {
  Bench bench;
  for (const char* beta : {"4.0", "0.0"}) {
    bench.source = test::fixture(fmt::format(R"(g (float[N,40] x, float[40,32] G, float[32] C) => (float[N,32] y) {{
        [head] y = Gemm <beta = {}> (x, G, C)
      }})",
                                             beta));
    bench.data = test::MemoryData(test::uniform({24, 40}, 0, 1), std::nullopt);
    for (const std::string spec : {"w3", "w2"}) {
      INFO(beta << ' ' << spec);
      const quantize::Quantized made = bench.run(spec + ":correct_bias", &bench.data);
      CHECK(made.corrected == 1);
      CHECK(bench.moved(made.model) < 0.01 * bench.moved(bench.run(spec, &bench.data).model));
    }
  }
}

TEST_CASE("without data a Gemm is corrected in each form and with each factor") {
  Bench bench;
  Rng rng(3);
  std::vector<float> x(size_t{400} * 32);
  for (float& number : x) number = static_cast<float>(2 + 3 * rng.normal());
  bench.data = test::MemoryData(Tensor::of<float>({400, 32, 1, 1}, x), std::nullopt);
  for (const auto& [spec, factors] : {std::pair("w3:per_tensor", "alpha = 2.0, beta = 3.0"),
                                      std::pair("w4g32", "beta = 3.0"), std::pair("nf4g32", "beta = 3.0")}) {
    INFO(spec);
    bench.source = test::fixture(fmt::format(R"(
      g (float[N,32,1,1] x, float[32] S, float[32] B, float[32] M, float[32] R, float[32,32] G, float[32] C)
          => (float[N,32] y) {{
        n = BatchNormalization (x, S, B, M, R)
        f = Flatten (n)
        [head] y = Gemm <transB = 1, {}> (f, G, C)
      }})",
                                             factors));
    *bench.source.graph->find("M")->constant = Tensor::of<float>({32}, std::vector<float>(32, 2));
    *bench.source.graph->find("R")->constant = Tensor::of<float>({32}, std::vector<float>(32, 9));
    *bench.source.graph->find("B")->constant = Tensor::of<float>({32}, std::vector<float>(32, 5));
    const quantize::Quantized made =
        bench.run(std::string(spec) + (test::contains(spec, ":") ? ";" : ":") + "correct_bias", nullptr);
    CHECK(made.corrected == 1);
    CHECK(bench.moved(made.model) < 0.3 * bench.moved(bench.run(spec, nullptr).model));
  }
}

TEST_CASE("it is said where no bias could be corrected") {
  Bench bench;
  bench.source = test::fixture("g (float[N,40] x, float[40,32] G) => (float[N,32] y) { y = MatMul (x, G) }");
  bench.data = test::MemoryData(test::uniform({24, 40}, 0, 1), std::nullopt);
  const quantize::Quantized made = bench.run("w4:correct_bias", &bench.data);
  CHECK(made.corrected == 0);
  CHECK(std::any_of(made.warnings.begin(), made.warnings.end(),
                    [](const std::string& w) { return test::contains(w, "no bias was corrected"); }));
}

TEST_CASE("biases are not corrected without data that tell something") {
  const Bench bench;
  CHECK(test::contains(test::error_of([&] { bench.run("w4:correct_bias", nullptr); }), "--correct-bias"));
  CHECK(test::contains(test::error_of([&] { bench.run("w4:correct_bias", &bench.data, true); }), "--data"));
}
