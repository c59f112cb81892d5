#include "quantize/weight_rounding.h"

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "quantize/prepare.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source = test::fixture(R"(
    g (float[N,3,8,8] x, float[16,3,8,8] S, float[64,16] V, float[64,32] W) => (float[N,32] y) {
      [stem] a = Conv (x, S)
      r = Relu (a)
      f = Flatten (r)
      [body] b = Gemm <transB = 1> (f, V)
      [head] y = MatMul (b, W)
    })");
  Tensor input = test::uniform({5, 3, 8, 8}, -1, 1);
  quantize::Means means;

  Bench() {
    uint64_t seed = 30;
    for (const char* name : {"S", "V", "W"}) {
      Tensor& t = *source.graph->find(name)->constant;
      t = test::uniform(t.dims(), -0.2, 0.3, DType::kF32, ++seed);
    }
    means.runner = &runner;
    means.passes = test::pass_context();
  }
  Tensor output(const Model& model) const {
    return backend->compile(model, {})->run(std::vector<Datum>{input})[0].tensor();
  }
};

}  // namespace

TEST_CASE("weights are rounded to the numbers that quantize would write") {
  const Bench bench;
  for (const char* format : {"w2", "w4g32", "w4g32:symmetric", "w1", "ternary", "nf4", "fp4", "fp8e5m2", "pot4",
                             "apot4", "codebook3", "codebook2:per_tensor", "codebook4v2", "w3:method=hqq", "bf16"}) {
    INFO(format);
    quantize::Spec spec = quantize::parse_spec(format);
    if (spec.format == quantize::Format::kWeights) spec.accuracy_level = 0;  // or activations would be rounded too
    // With other weights than those that it was made with.
    quantize::WeightRounding rounding(test::fixture(R"(
      g (float[N,3,8,8] x, float[16,3,8,8] S, float[64,16] V, float[64,32] W) => (float[N,32] y) {
        [stem] a = Conv (x, S)
        r = Relu (a)
        f = Flatten (r)
        [body] b = Gemm <transB = 1> (f, V)
        [head] y = MatMul (b, W)
      })"),
                                      spec);
    CHECK(rounding.names().size() == 3);
    Model rounded = clone(bench.source);
    for (const std::string& name : rounding.names()) {
      std::optional<Tensor>& weight = rounded.graph->find(name)->constant;
      const std::vector<float> before = to_floats(*weight);
      weight = rounding.rounded(name, *weight);
      CHECK(to_floats(*weight) != before);
      CHECK(to_floats(*bench.source.graph->find(name)->constant) == before);  // the parameter stays
    }
    const Tensor written = bench.output(quantize::quantize(bench.source, spec, bench.means).model);
    CHECK(difference(bench.output(rounded), written).sqnr_db > 110);
    CHECK(difference(bench.output(bench.source), written).sqnr_db < 70);
  }
}

TEST_CASE("what else the file rounds is left out") {
  const Bench bench;
  for (const auto& [format, count] : {std::pair{"w8a8-dynamic", size_t{2}}, {"fp16", 3}}) {
    INFO(format);
    const quantize::Spec spec = quantize::parse_spec(format);
    quantize::WeightRounding rounding(bench.source, spec);
    CHECK(rounding.names().size() == count);
    Model rounded = clone(bench.source);
    for (const std::string& name : rounding.names()) {
      std::optional<Tensor>& weight = rounded.graph->find(name)->constant;
      weight = rounding.rounded(name, *weight);
    }
    const Tensor written = bench.output(quantize::quantize(bench.source, spec, bench.means).model);
    CHECK(difference(bench.output(rounded), written).sqnr_db > 38);  // activations in the steps of eight bits
  }
}

TEST_CASE("a weight whose codes would save nothing is neither rounded nor written in them") {
  const Bench bench;
  for (const auto& [format, count] : {std::pair{"codebook6", size_t{1}}, {"codebook8", 0}}) {
    INFO(format);
    const quantize::Spec spec = quantize::parse_spec(format);
    CHECK(quantize::WeightRounding(bench.source, spec).names().size() == count);
    const quantize::Quantized made = quantize::quantize(bench.source, spec, bench.means);
    CHECK(made.weights.size() == count);
    CHECK(made.left.at("head") == "its scales and tables take as much as its codes save");
  }
}

TEST_CASE("methods that look at data are refused") {
  const Bench bench;
  for (const char* spec : {"w4:method=gptq", "w4:method=awq", "w4:method=brecq", "w8a8-dynamic:method=smoothquant"})
    CHECK(test::contains(test::error_of([&] { quantize::WeightRounding(bench.source, quantize::parse_spec(spec)); }),
                         "looks at data"));
}
