#include "prune/depth/shorten_model.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/verify.h"
#include "core/onnx/tools.h"
#include "prune/structure/prove.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// Four blocks, of which the third has weights that are a hundredth of the others'.
constexpr const char* kNet = R"(g (float[N,3,8,8] x, float[6,3,3,3] S, float[6] B, float[6,6,1,1] U, float[6] C,
      float[6,6,1,1] V, float[6,6,1,1] W, float[6,6,1,1] T, float[10,6] H) => (float[N,10] y) {
    [stem] a = Conv (x, S, B)
    r = Relu (a)
    [one] b1 = Conv (r, U, C)
    j1 = Add (r, b1)
    [two] b2 = Conv (j1, V)
    j2 = Add (b2, j1)
    [three] b3 = Conv (j2, W)
    s3 = Sigmoid (b3)
    j3 = Add (j2, s3)
    [four] b4 = Conv (j3, T)
    j4 = Add (j3, b4)
    p = GlobalAveragePool (j4)
    f = Flatten (p)
    [head] y = Gemm <transB = 1> (f, H)
  })";

Model network() {
  Model model = test::fixture(kNet);
  float* w = model.graph->find("W")->constant->mutable_data<float>();
  for (int i = 0; i < 36; ++i) w[i] *= 0.01F;
  return model;
}

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  prune::Means means;

  Bench() {
    means.runner = &runner;
    means.passes = test::pass_context();
  }
  prune::Pruned run(const std::string& spec, const Model& source = network()) const {
    prune::Pruned made = prune::prune(source, prune::parse_spec(spec), means);
    CHECK(verify(made.model).empty());
    return made;
  }
};

std::vector<std::string> gone(const prune::Pruned& made) {
  std::vector<std::string> names;
  for (const prune::PrunedGroup& g : made.groups)
    if (g.kept == 0) names.push_back(g.name);
  return names;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("the block of least weights goes, and the rest is as it was") {
  const prune::Pruned made = Bench().run("magnitude:granularity=layer;sparsity=0.25");
  REQUIRE(made.groups.size() == 4);
  CHECK(gone(made) == List{"three"});
  CHECK(made.groups[2].unit == "blocks");
  CHECK(test::operators(*made.model.graph) == "Conv Relu Conv Add Conv Add Conv Add GlobalAveragePool Flatten Gemm");
  REQUIRE(made.proof);
  CHECK(made.proof->max_abs <= 1e-5 * made.proof->max_expected);
  CHECK(made.macs_before - made.macs_after == 36 * 36);
  Model expected = network();
  Node* join = expected.graph->find("j3")->producer;
  expected.graph->replace_uses(expected.graph->find("j3"), join->input(0));
  remove_dead(expected);
  test::require_same_model(expected, made.model, 1e-6);
}

TEST_CASE("blocks go until a share of the FLOPs is left") {
  const prune::Pruned made = Bench().run("magnitude:granularity=layer;flops=0.8");
  CHECK(static_cast<double>(made.macs_after) <= 0.8 * static_cast<double>(made.macs_before));
  CHECK(static_cast<double>(made.macs_after) + 36 * 36 > 0.8 * static_cast<double>(made.macs_before));
  const Error error = test::thrown_by([] { Bench().run("magnitude:granularity=layer;flops=0.01"); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "without all 4 blocks"));
}

TEST_CASE("blocks whose weights have less than a threshold go, at 0 those without any") {
  Model source = network();
  float* w = source.graph->find("W")->constant->mutable_data<float>();
  std::fill_n(w, 36, 0.0F);
  CHECK(gone(Bench().run("magnitude:granularity=layer;threshold=0", source)) == List{"three"});
  w[7] = 1;
  CHECK(gone(Bench().run("magnitude:granularity=layer;threshold=1", source)).empty());
  CHECK(gone(Bench().run("magnitude:granularity=layer;threshold=1.01", source)) == List{"three"});
  w[7] = NAN;
  const Error error = test::thrown_by([&] { Bench().run("magnitude:granularity=layer;sparsity=0.25", source); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "three"));
}

TEST_CASE("a time is met by as few blocks as are measured to be enough") {
  Bench bench;
  bench.means.time = [](const Model& model) { return static_cast<double>(model.graph->node_count()) / 14.0; };
  const prune::Pruned made = bench.run("magnitude:granularity=layer;latency=0.8");
  CHECK(gone(made).size() == 2);
  CHECK(made.tried.size() > 1);
  CHECK(made.spec.shares.size() == 2);
  CHECK(gone(bench.run(to_string(made.spec))) == gone(made));
}

TEST_CASE("what was measured says which blocks go") {
  Bench bench;
  std::vector<prune::Curve> curves;
  for (const auto& [name, loss, macs] : {std::tuple{"one", 1.0, 0.1}, std::tuple{"two", 2.0, 0.4},
                                         std::tuple{"three", 3.0, 0.1}, std::tuple{"four", 4.0, 0.1}})
    curves.push_back({name, 1, {{1, loss, macs, name == std::string("four") ? 0.9 : 0.1}}});
  bench.means.curves = &curves;
  CHECK(gone(bench.run("magnitude:granularity=layer;sparsity=0.25;allocation=sensitivity")) == List{"one"});
  const prune::Pruned made = bench.run("magnitude:granularity=layer;flops=0.9;allocation=sensitivity");
  CHECK(gone(made) == List{"two"});
  CHECK(to_string(made.spec) == "magnitude:granularity=layer;shares=two=1");
  CHECK(gone(bench.run("magnitude:granularity=layer;sparsity=0.25;allocation=latency")) == List{"four"});
}

TEST_CASE("--skip keeps a block, by any name in it") {
  CHECK(gone(Bench().run("magnitude:granularity=layer;sparsity=0.34;skip=W")) != List{"three"});
  CHECK(Bench().run("magnitude:granularity=layer;sparsity=0.5;only=two|j4").groups.size() == 2);
  CHECK(test::thrown_by([] { Bench().run("magnitude:granularity=layer;sparsity=0.5;only=too"); }).code == Code::kUsage);
}

TEST_CASE("what is left is corrected for the blocks that are gone") {
  Bench bench;
  const Model source = network();
  const auto data = random_dataset(model_inputs(source), {.count = 24, .seed = 3});
  bench.means.data = data.get();
  const auto sqnr = [&](const std::string& more) {
    const prune::Pruned made = bench.run("random:granularity=layer;shares=two=1" + more, source);
    return prune::pruned_from_masked(source, made.model, bench.runner, data.get(), 1).sqnr_db;
  };
  CHECK(sqnr(";recover=lstsq") > sqnr("") + 3);
}

TEST_CASE("a model without blocks is refused with the reasons") {
  const Error error = test::thrown_by([] {
    Bench().run("magnitude:granularity=layer;sparsity=0.5",
                test::fixture("g (float[N,3] x, float[3,4] W) => (float[N,4] y) { y = MatMul (x, W) }"));
  });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "no residual block"));
}

TEST_CASE("the last block may end at an output of the model") {
  const Model source = test::fixture(R"(g (float[N,4] x, float[4,4] U) => (float[N,4] y) {
    [one] a = MatMul (x, U)
    y = Add (x, a)
  })");
  const prune::Pruned made = Bench().run("magnitude:granularity=layer;sparsity=1", source);
  CHECK(test::operators(*made.model.graph) == "Identity");
  CHECK(made.model.graph->outputs()[0]->name == "y");
}
