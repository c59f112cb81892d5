#include "cli/train/options.h"

#include <fmt/core.h>

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

namespace mlopt::test {

TEST_CASE("a batch is 64 samples, or all where there are fewer, unless it is given") {
  cli::TrainOptions o;
  o.verb.data.spec = "d.npz";
  for (const auto& [samples, batch] : {std::pair{1000, 64}, {64, 64}, {10, 10}, {0, 1}}) {
    const train::LoopSettings loop = cli::loop_of(o, samples, 0);
    CHECK(loop.batch == batch);
    CHECK(loop.schedule.steps == samples / batch);
    CHECK(cli::spec_of(o, loop).starts_with(fmt::format("train:data=d.npz;batch-size={};", batch)));
  }
  o.batch_size = 16;
  CHECK(cli::loop_of(o, 10, 0).batch == 16);
}

TEST_CASE("momentum is of sgd alone, and a largest norm is positive") {
  const Model model = fixture("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }");
  cli::TrainOptions o;
  CHECK(cli::recipe_of(o, model).settings.momentum == 0.9);
  o.momentum = 0.5;
  const Error error = thrown_by([&] { cli::recipe_of(o, model); });
  CHECK(error.code == Code::kUsage);
  CHECK(says(error, "adamw has no momentum to set: --momentum"));
  o.optimizer = "sgd";
  CHECK(cli::recipe_of(o, model).settings.momentum == 0.5);
  CHECK(cli::recipe_of(o, model).clip == 0);
  o.clip = 0.5;
  CHECK(cli::recipe_of(o, model).clip == 0.5);
  o.clip = 0;
  CHECK(says(thrown_by([&] { cli::recipe_of(o, model); }), "a positive number is needed: --clip"));
}

TEST_CASE("the shape of the output suggests a loss, and one column is no class") {
  const auto usual = [](const std::string& graph) {
    return std::string(cli::recipe_of(cli::TrainOptions(), fixture(graph)).loss->name);
  };
  CHECK(usual("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }") == "cross-entropy");
  CHECK(usual("g (float[N,3,4] x) => (float[N,3,4] y) { y = Relu (x) }") == "next-token");
  CHECK(usual("g (float[N,1] x) => (float[N,1] y) { y = Relu (x) }") == "mse");
  CHECK(usual("g (float[N,3,1] x) => (float[N,3,1] y) { y = Relu (x) }") == "mse");
  CHECK(usual("g (float[N,1] x) => (float[N,1] y) { y = Sigmoid (x) }") == "bce");
}

}  // namespace mlopt::test
