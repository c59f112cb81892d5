#include "quantize/float_again.h"

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/tools.h"
#include "core/rewrite/pass.h"
#include "quantize/quantize.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source = test::fixture(R"(
    g (float[N,8,8,8] x, float[16,8,3,3] V, float[16,16,3,3] U, float[32,256] W) => (float[N,32] y) {
      [stem] a = Conv (x, V)
      r = Relu (a)
      [body] b = Conv (r, U)
      c = Relu (b)
      f = Flatten (c)
      [head] y = Gemm <transB = 1> (f, W)
    })");
  test::MemoryData data{test::uniform({8, 8, 8, 8}, -1, 1), std::nullopt};

  Bench() {
    uint64_t seed = 20;
    for (const char* name : {"V", "U", "W"}) {
      Tensor& t = *source.graph->find(name)->constant;
      t = test::uniform(t.dims(), -0.2, 0.2, DType::kF32, ++seed);
    }
  }

  quantize::Quantized made(const std::string& spec, const std::vector<std::string>& skip) const {
    quantize::Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = &data;
    quantize::Spec parsed = quantize::parse_spec(spec);
    parsed.skip = skip;
    return quantize::quantize(source, parsed, means);
  }
  Tensor output(const Model& model) const {
    return backend->compile(model, {})->run(data.batch(0, 8).inputs)[0].tensor();
  }
};

/// As the readers of the layer know it.
std::string rounded_result(const Model& model, const std::string& layer) {
  for (const Node* node : model.graph->nodes())
    if (node->name == layer) return node->output(0)->uses.at(0).node->output(0)->uses.at(0).node->output(0)->name;
  return "";
}

}  // namespace

TEST_CASE("a layer in floats again is as if it had been skipped") {
  const Bench bench;
  Model source = clone(bench.source);
  const Tensor right = bench.output(source);
  const std::vector<quantize::LayerValue> layers = {
      {"stem", "Conv", "r", ""}, {"body", "Conv", "c", ""}, {"head", "Gemm", "y", "y"}};
  for (const char* spec : {"w2:method=rtn", "w2:emit=gather;method=rtn", "codebook2", "w4:emit=qdq;method=rtn"}) {
    for (const auto& at : layers) {
      INFO(spec << " " << at.layer);
      Model model = bench.made(spec, {}).model;
      const std::string result = at.layer == "stem" ? "a" : at.layer == "body" ? "b" : "y";
      REQUIRE(quantize::float_again(model, source, {at.layer, at.op, result, result}));
      remove_dead(model);
      CHECK(verify(model).empty());
      const Difference same = difference(bench.output(model), bench.output(bench.made(spec, {at.layer}).model));
      CHECK(same.sqnr_db > 100);  // the order of sums alone
      CHECK(difference(bench.output(model), right).sqnr_db < 60);
    }
  }
}

TEST_CASE("of layers on codes the weight and what is computed with it is in floats again") {
  const Bench bench;
  for (const std::string layer : {"stem", "body", "head"}) {
    INFO(layer);
    const quantize::Quantized whole = bench.made("w2a8", {}), skipped = bench.made("w2a8", {layer});
    Model model = clone(whole.model);
    const bool is_clamped = layer != "head";
    const std::string source = layer == "stem" ? "r" : layer == "body" ? "c" : "y";
    const std::string result = is_clamped ? rounded_result(model, layer) : "y";
    REQUIRE(quantize::float_again(model, bench.source, {layer, "", source, result}));
    remove_dead(model);
    CHECK(verify(model).empty());
    const Tensor right = bench.output(bench.source);
    const double all = difference(bench.output(whole.model), right).sqnr_db,
                 left = difference(bench.output(model), right).sqnr_db,
                 expected = difference(bench.output(skipped.model), right).sqnr_db;
    CHECK(left > all + 0.3);
    CHECK(left == Approx(expected).margin(0.5));  // what is next to it is rounded here and there otherwise
  }
}

TEST_CASE("a layer that cannot be found is left as it is") {
  const Bench bench;
  Model model = bench.made("w4", {}).model;
  CHECK_FALSE(quantize::float_again(model, bench.source, {"other", "Conv", "a", "a"}));
  CHECK_FALSE(quantize::float_again(model, bench.source, {"stem", "Conv", "nowhere", "a"}));
  CHECK(verify(model).empty());
}
