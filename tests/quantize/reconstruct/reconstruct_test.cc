#include "quantize/reconstruct/reconstruct.h"

#include "backends/reference/backend.h"
#include "core/ir/infer.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "quantize/quantize.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source = test::fixture(R"(
    g (float[N,32] x, float[32,32] V, float[32,32] W, float[32,32] U) => (float[N,32] y) {
      [up] a = MatMul (x, V)
      b = Relu (a)
      [down] c = MatMul (b, W)
      d = Add (c, x)
      [head] y = MatMul (d, U)
    })");
  test::MemoryData data{correlated(), std::nullopt};

  Bench() {
    uint64_t seed = 10;
    for (const char* name : {"V", "W", "U"})
      *source.graph->find(name)->constant = test::uniform({32, 32}, -0.3, 0.3, DType::kF32, ++seed);
  }

  static Tensor correlated() {
    Tensor x = test::uniform({48, 32}, 0, 0.4);
    const Tensor common = test::uniform({48}, 0, 2, DType::kF32, 5);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] += common.data<float>()[i / 32];
    return x;
  }

  quantize::Quantized run(const std::string& spec, bool generated = false) const {
    quantize::Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = &data;
    means.generated = generated;
    return quantize::quantize(source, quantize::parse_spec(spec), means);
  }

  /// Of the output, on the data.
  double sqnr(const std::string& spec) const {
    const Batch batch = data.batch(0, data.size());
    const Model made = run(spec).model;
    const auto give = [&](const Model& m) { return backend->compile(m, {})->run(batch.inputs)[0].tensor(); };
    return difference(give(made), give(source)).sqnr_db;
  }
};

}  // namespace

TEST_CASE("what a block gives is nearer than that of the nearest weights") {
  const Bench bench;
  CHECK(bench.sqnr("w3:symmetric;method=brecq") > bench.sqnr("w3:symmetric") + 6);
  CHECK(bench.sqnr("w3a8:method=brecq") > bench.sqnr("w3a8") + 3);
}

TEST_CASE("weights of a residual block are learned together, others by themselves, and the rest is left to layers") {
  Bench bench;
  infer(bench.source);
  Model student = clone(bench.source);
  std::vector<quantize::SoftWeight> soft;
  quantize::Scheme scheme;
  for (const Weight& w : find_weights(bench.source).weights)
    if (w.layer != "down") soft.emplace_back(w, quantize::Coded(scheme, w.rows, w.columns));
  const quantize::Reconstructed done =
      quantize::reconstruct(bench.source, student, soft, {}, {&bench.runner, &bench.data, 8}, nullptr);
  CHECK(done.blocks == 2);
  CHECK(done.weights == std::vector<std::string>{"V", "U"});
  CHECK(done.left.empty());
  CHECK(to_floats(*student.graph->find("V")->constant) == to_floats(soft[0].values()));
  CHECK(to_floats(*student.graph->find("W")->constant) == to_floats(*bench.source.graph->find("W")->constant));
}

TEST_CASE("layers that no block learns are named with the reason") {
  Bench bench;
  for (const std::string spec : {"w3:method=brecq", "w3a8:method=brecq"}) CHECK(bench.run(spec).fell_back.empty());
  bench.data = test::MemoryData(Tensor::of<float>({4, 32}, std::vector<float>(128, 0.5F)), std::nullopt);
  const std::string why = "by itself, for what its block is given differs in shape, or is the same, in all samples";
  for (const std::string spec : {"w3:method=brecq", "w3a8:method=brecq"})
    CHECK(bench.run(spec).fell_back == quantize::Fallbacks{{"down", why}, {"head", why}, {"up", why}});
  bench.data = test::MemoryData(Tensor::of<float>({4, 32}, std::vector<float>(128, NAN)), std::nullopt);
  CHECK(test::contains(test::error_of([&] { bench.run("w3:method=brecq"); }), "is not finite"));
}

TEST_CASE("blocks are not learned without data") {
  const Bench bench;
  for (const std::string spec : {"w3:method=brecq", "w3a8:method=brecq"})
    CHECK(test::contains(test::error_of([&] { bench.run(spec, true); }), "brecq"));
}
