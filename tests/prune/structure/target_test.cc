#include "prune/structure/target.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

constexpr const char* kNet = R"(g (float[1,64] x, float[64,60] U, float[60,8] V) => (float[1,8] y) {
    [first] h = MatMul (x, U)
    r = Relu (h)
    [second] y = MatMul (r, V)
  })";

/// A device that takes 2 units, and another for each block of 16 of the hidden numbers: 17 take as long as 32.
double time_of(const Model& model) {
  const auto width = static_cast<int>(model.graph->find("U")->type.dims->at(1).value().value());
  return 2 + (width + 15) / 16;
}

struct Bench {
  prune::Means means;
  Model source = test::fixture(kNet);

  Bench() {
    means.passes = test::pass_context();
    means.time = [&](const Model& model) { return time_of(model) / time_of(source); };
  }
  prune::Pruned run(const std::string& spec) const { return prune::prune(source, prune::parse_spec(spec), means); }
};

int64_t width(const prune::Pruned& made) { return made.model.graph->find("U")->constant->dims()[1]; }

}  // namespace

TEST_CASE("channels go until a run takes the share of the time that is asked for, as measured") {
  const Bench bench;  // 60 channels: 6 units
  const prune::Pruned made = bench.run("magnitude:granularity=channel;latency=0.6x;round=none");
  CHECK(width(made) <= 16);  // 3 units; 4 would be 0.67x
  CHECK(width(made) >= 14);  // seven halvings
  REQUIRE(made.spec.sparsity);
  CHECK_FALSE(made.spec.latency);
  CHECK(width(bench.run(to_string(made.spec))) == width(made));
  CHECK(made.tried.size() == 8);
  CHECK(test::thrown_by([&] {
          bench.run("magnitude:granularity=channel;latency=0.2x");
        }).message.find("cannot be reached") != std::string::npos);
}

TEST_CASE("widths are rounded to the multiple with which the model is fastest") {
  const Bench bench;
  // 30 stay: 30, 32, 32, 32, 32 of 60, all as fast, and 32 are the most.
  const prune::Pruned half = bench.run("magnitude:granularity=channel;sparsity=0.5;round=auto");
  CHECK(width(half) == 32);
  CHECK(half.spec.round == 4);
  // 33 would stay: with 36, 40, 48 as fast and one block more than 32, of which none is a choice.
  CHECK(width(bench.run("magnitude:granularity=channel;sparsity=0.45;round=auto")) == 48);
  CHECK(to_string(half.spec).find("round=4") != std::string::npos);
}

TEST_CASE("what cannot be timed is refused") {
  Bench bench;
  bench.means.time = nullptr;
  CHECK(test::thrown_by([&] { bench.run("magnitude:granularity=channel;latency=0.5x"); }).code == Code::kUnsupported);
}

TEST_CASE("the allocation by latency takes what saves most time for what is lost, until enough channels go") {
  prune::Means means;
  means.passes = test::pass_context();
  const Model source =
      test::fixture(R"(g (float[1,6] x, float[6,20] U, float[20,20] V, float[20,8] W) => (float[1,8] y) {
      [first] a = MatMul (x, U)
      b = Relu (a)
      [second] c = MatMul (b, V)
      d = Relu (c)
      [third] y = MatMul (d, W)
    })");
  // The same is lost of both; of the second more time is saved, though the first has more multiply-accumulates.
  const auto curves = [](double first, double second) {
    return std::vector<prune::Curve>{{"first", 20, {{0.5, 1, 0.4, first}}}, {"second", 20, {{0.5, 1, 0.2, second}}}};
  };
  const auto kept = [&](const std::string& target, const std::vector<prune::Curve>& known) {
    means.curves = &known;
    const prune::Pruned made =
        prune::prune(source, prune::parse_spec("magnitude:granularity=channel;round=none;" + target), means);
    return std::pair(made.groups[0].kept, made.groups[1].kept);
  };
  CHECK(kept("sparsity=0.25;allocation=latency", curves(0.1, 0.3)) == std::pair<int64_t, int64_t>(20, 10));
  CHECK(kept("sparsity=0.25;allocation=latency", curves(0.3, 0.1)) == std::pair<int64_t, int64_t>(10, 20));
  const auto flops = kept("flops=0.8;allocation=latency", curves(0.1, 0.3));
  CHECK(flops.first == 20);
  CHECK(flops.second < 20);
  CHECK(test::says(test::thrown_by([&] { kept("sparsity=0.5;allocation=latency", curves(0, 0)); }), "saved any time"));
}
