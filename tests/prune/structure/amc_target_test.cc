#include "prune/structure/amc_target.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

constexpr const char* kNet = R"(g (float[1,6] x, float[6,20] U, float[20,20] V, float[20,8] W) => (float[1,8] y) {
    [first] a = MatMul (x, U)
    b = Relu (a)
    [second] c = MatMul (b, V)
    d = Relu (c)
    [third] y = MatMul (d, W)
  })";

int64_t width(const Model& model, const char* weight) { return model.graph->find(weight)->constant->dims()[1]; }

/// The first width is worth more than the second.
struct Bench {
  Model source = test::fixture(kNet);
  prune::AmcMeans amc;
  prune::Means means;

  Bench() {
    means.passes = test::pass_context();
    amc.reward = [](const Model& made) { return static_cast<double>(3 * width(made, "U") + width(made, "V")) / 80; };
    means.amc = &amc;
  }
  prune::Pruned run(const std::string& spec) const {
    return prune::prune(source, prune::parse_spec("magnitude:granularity=channel;round=none;" + spec), means);
  }
};

}  // namespace

TEST_CASE("amc takes from the group that is worth less until the budget of FLOPs holds") {
  const Bench bench;
  const prune::Pruned made = bench.run("flops=60%;allocation=amc;episodes=60");
  // 680 multiply-accumulates, of which 408 may stay: with all 20 of the first 120 + 20 n + 8 n = 408, n = 10.
  CHECK(made.macs_after <= 408);
  CHECK(width(made.model, "U") >= 18);
  CHECK(width(made.model, "V") <= 12);
  REQUIRE(made.episodes.size() == 60);
  for (const prune::Episode& e : made.episodes) CHECK(e.left <= 0.6 + 1e-9);
  REQUIRE(made.spec.shares.size() == 2);
  CHECK(made.spec.allocation.empty());
  const prune::Pruned again = prune::prune(bench.source, made.spec, bench.means);
  CHECK(width(again.model, "U") == width(made.model, "U"));
  CHECK(width(again.model, "V") == width(made.model, "V"));
  CHECK(again.episodes.empty());
  const Error least = test::thrown_by([&] { bench.run("flops=1%;allocation=amc"); });
  CHECK(least.code == Code::kBadInput);
  CHECK(least.message.find("cannot be reached") != std::string::npos);
}

TEST_CASE("amc holds a share of the channels") {
  const Bench bench;
  const prune::Pruned made = bench.run("sparsity=0.25;allocation=amc;episodes=40");
  CHECK(width(made.model, "U") + width(made.model, "V") <= 30);
  CHECK(width(made.model, "U") > width(made.model, "V"));
}

TEST_CASE("amc holds a share of the time: as curves say, then as is measured") {
  Bench bench;
  // Each channel of the second takes three times as long as one of the first, and the whole 10 % more than curves say.
  const std::vector<prune::Curve> curves = {{"first", 20, {{0.5, 0.1, 0.1, 0.125}}},
                                            {"second", 20, {{0.5, 0.1, 0.1, 0.375}}}};
  bench.means.curves = &curves;
  bench.means.time = [](const Model& model) {
    return 0.05 + 0.95 * static_cast<double>(width(model, "U") + 3 * width(model, "V")) / 80;
  };
  const prune::Pruned made = bench.run("latency=0.5x;allocation=amc;episodes=40");
  CHECK(bench.means.time(made.model) <= 0.5);
  CHECK(bench.means.time(made.model) > 0.4);
  CHECK(!made.tried.empty());
}

TEST_CASE("amc needs something that tells what a result is worth") {
  Bench bench;
  bench.means.amc = nullptr;
  CHECK(test::thrown_by([&] { bench.run("flops=60%;allocation=amc"); }).code == Code::kUsage);
  CHECK(test::thrown_by([&] { bench.run("flops=60%;episodes=5"); }).code == Code::kUsage);
  CHECK(test::thrown_by([&] { prune::check(prune::parse_spec("magnitude:sparsity=0.5;allocation=amc")); }).code ==
        Code::kUnsupported);
}
