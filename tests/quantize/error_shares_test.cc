#include "quantize/error_shares.h"

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Three layers in parallel, whose errors in the sum do not know of each other.
struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source = test::fixture(R"(
    g (float[N,64] x, float[64,32] V, float[64,32] W, float[64,32] U) => (float[N,32] y) {
      [small] a = MatMul (x, V)
      [large] b = MatMul (x, W)
      [other] c = MatMul (x, U)
      d = Add (a, b)
      y = Add (c, d)
    })");
  test::MemoryData data{test::uniform({64, 64}, -1, 1), std::nullopt};
  quantize::Means means;

  Bench() {
    uint64_t seed = 20;
    for (const auto& [name, size] : {std::pair{"V", 0.1}, {"W", 0.3}, {"U", 0.1}}) {
      Tensor& t = *source.graph->find(name)->constant;
      t = test::uniform(t.dims(), -size, size, DType::kF32, ++seed);
    }
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = &data;
  }
  quantize::Quantized run(const std::string& spec) const {
    return quantize::quantize(source, quantize::parse_spec(spec), means);
  }
};

}  // namespace

TEST_CASE("the shares of layers that add up are those of their weights' errors") {
  const Bench bench;
  for (const char* spec : {"w4:method=rtn", "w4a16", "w8a8-dynamic"}) {
    INFO(spec);
    const quantize::Quantized made = bench.run(spec);
    REQUIRE(made.errors.size() == 3);
    CHECK(made.output_error > 0);
    for (const quantize::LayerError& e : made.errors) {
      REQUIRE(e.share);
      // Three times the steps are nine times the error: 9 of 11 parts, and one each, but for what chance correlates.
      if (std::string(spec) != "w8a8-dynamic")
        CHECK(*e.share == Approx(e.layer == "large" ? 9.0 / 11 : 1.0 / 11).margin(0.06));
    }
  }
}

TEST_CASE("rounded inputs have their ranges and what is clipped of them") {
  Bench bench;
  for (const quantize::LayerError& e : bench.run("w8a8").errors) {
    REQUIRE(e.input);
    CHECK(e.input->low == Approx(-1).margin(0.02));
    CHECK(e.input->high == Approx(1).margin(0.02));
    CHECK(e.input->clipped == 0);
  }
  for (const quantize::LayerError& e : bench.run("w8a8:calibration=percentile=90").errors)
    CHECK(e.input->clipped == Approx(0.1).margin(0.02));
  CHECK_FALSE(bench.run("w8").errors.at(0).input);
}

TEST_CASE("without time, and on generated data, nothing is measured") {
  Bench bench;
  bench.means.share_seconds = 0;
  CHECK_FALSE(bench.run("w4").errors.at(0).share);
  bench.means.share_seconds = 5;
  bench.means.generated = true;
  CHECK_FALSE(bench.run("w4").errors.at(0).share);
}
