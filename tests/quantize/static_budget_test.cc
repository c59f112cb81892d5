#include "quantize/static_budget.h"

#include <algorithm>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Times are injected: each layer in integers takes a quarter of the run away.
struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source = test::fixture(R"(
    g (float[N,16] x, float[32,16] V, float[64,32] W, float[20,64] U) => (float[N,20] y) {
      [first] a = Gemm <transB = 1> (x, V)
      b = Relu (a)
      [middle] c = Gemm <transB = 1> (b, W)
      d = Relu (c)
      [last] y = Gemm <transB = 1> (d, U)
    })");
  test::MemoryData data{test::uniform({16, 16}, -1, 1), std::nullopt};
  mutable int timed = 0;

  Bench() {
    uint64_t seed = 10;
    for (const char* name : {"V", "W", "U"}) {
      Tensor& t = *source.graph->find(name)->constant;
      t = test::uniform(t.dims(), -0.3, 0.3, DType::kF32, ++seed);
    }
    // A few large numbers leave the other weights of this layer few codes.
    Tensor& wide = *source.graph->find("W")->constant;
    for (int64_t i = 0; i < wide.size(); i += 16) wide.mutable_data<float>()[i] *= 40;
  }

  quantize::Quantized run(const std::string& spec, bool times = true, bool generated = false) const {
    quantize::Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = &data;
    means.generated = generated;
    if (times)
      means.time = [this](const Model& model) {
        ++timed;
        const std::vector<Node*> nodes = model.graph->nodes();
        return 1 - 0.25 * static_cast<double>(std::count_if(nodes.begin(), nodes.end(), in_integers));
      };
    return quantize::quantize(source, quantize::parse_spec(spec), means);
  }

  static bool in_integers(const Node* node) {
    const Node* from = node->is("Gemm") ? node->input(1)->producer : nullptr;
    return from && from->is("DequantizeLinear");
  }
};

}  // namespace

TEST_CASE("the layer whose integers err most stays float where the time allows one") {
  const Bench bench;
  const quantize::Quantized made = bench.run("mixed:latency=0.55x");
  REQUIRE(made.decided);
  CHECK(made.decided->skip == std::vector<std::string>{"middle"});
  CHECK_FALSE(made.decided->budget);
  CHECK(made.layers == 2);
  CHECK(made.time == Approx(0.5));
  CHECK(made.left.contains("Gemm 'middle'"));
  // What was decided gives the same without measuring.
  const int before = bench.timed;
  const quantize::Quantized again = bench.run(quantize::to_string(*made.decided));
  CHECK(bench.timed == before);
  CHECK(again.layers == 2);
}

TEST_CASE("names that read as globs stand for themselves") {
  Bench bench;
  for (Node* node : bench.source.graph->nodes())
    if (node->is("Gemm")) node->name = node->name == "middle" ? "m[0]" : node->name == "first" ? "m0" : "m1";
  const quantize::Quantized made = bench.run("mixed:latency=0.55x");
  REQUIRE(made.decided);
  CHECK(made.decided->skip == std::vector<std::string>{"m[[]0]"});
  CHECK(made.layers == 2);
  CHECK(made.left.contains("Gemm 'm[0]'"));
  CHECK(made.time == Approx(0.5));
}

TEST_CASE("all layers are in integers where the time allows none, and none where it allows all") {
  const Bench bench;
  CHECK(bench.run("mixed:latency=0.25x").layers == 3);
  CHECK(bench.run("mixed:latency=1x").layers == 0);
}

TEST_CASE("a budget of time needs data, and what measures") {
  const Bench bench;
  CHECK(test::contains(test::error_of([&] { bench.run("mixed:latency=0.2x"); }), "0.25"));
  CHECK(test::contains(test::error_of([&] { bench.run("mixed:latency=0.5x", false); }), "nothing measures"));
  CHECK(test::contains(test::error_of([&] { bench.run("mixed:latency=0.5x", true, true); }), "--data"));
}
