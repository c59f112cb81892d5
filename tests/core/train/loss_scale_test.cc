#include "core/train/loss_scale.h"

#include <cmath>
#include <functional>
#include <limits>

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/train/checkpoint.h"
#include "tests/support/catch.h"
#include "tests/support/line_fit.h"
#include "tests/support/net.h"
#include "tests/support/ranks.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

train::Recipe in_fp16(const char* optimizer) {
  train::Recipe r = recipe(optimizer);
  r.precision.type = DType::kF16;
  return r;
}

train::Standing standing(int64_t steps, const train::LossScale& scale) { return {steps, 1, "", scale}; }

/// linear() in float16, trained by itself.
struct Run {
  MemoryData data = line();
  train::TrainingGraphs graphs;
  std::unique_ptr<Backend> backend = reference_backend();
  train::Trainer trainer;

  Run(const train::Recipe& recipe, const train::LoopSettings& loop, double scale)
      : Run(recipe, loop, standing(0, {scale})) {}
  Run(const train::Recipe& recipe, const train::LoopSettings& loop, const train::Standing& from)
      : graphs(train::make_graphs(linear().model, {{loop.portion(), 3}}, recipe, standard_types)),
        trainer(graphs, data, *backend, {}, loop, from) {}
  explicit Run(double scale) : Run(in_fp16("adamw"), loop(0.05, 8), scale) {}
};

/// The mean squared error times a factor.
std::function<train::LossGraph(train::LossArgs&)> scaled_mse(double factor) {
  return [=](train::LossArgs& args) {
    train::LossGraph loss = train::find_loss("mse")->build(args);
    loss.loss = args.build.op("Mul", {loss.loss, args.build.number(factor)});
    return loss;
  };
}

/// The largest scale that the first gradients of linear() stand.
double largest_scale() {
  double scale = 0x1p40;
  while (Run(scale).trainer.step().skipped) scale /= 2;
  return scale;
}

}  // namespace

TEST_CASE("a scale doubles after 2000 good updates and halves when one overflows, down to 1") {
  train::LossScale scale;
  for (int i = 0; i < 1999; ++i) note_finite(scale);
  CHECK(scale.value == 65536);
  note_finite(scale);
  CHECK(scale.value == 131072);
  CHECK(scale.good == 0);
  note_finite(scale);
  CHECK(note_overflow(scale));
  CHECK(scale.value == 65536);
  CHECK(scale.good == 0);
  CHECK(scale.skipped == 1);
  for (int i = 0; i < 16; ++i) CHECK(note_overflow(scale));
  CHECK(scale.value == 1);
  CHECK(!note_overflow(scale));
  CHECK(scale.value == 1);
}

TEST_CASE("one number that is not finite is found in any place of any type") {
  StateStore state;
  const std::vector<std::string> names = {"a", "b"};
  state.add("a", tensor({3}, {1, -2, std::numeric_limits<float>::max()}));
  state.add("b", Tensor::zeros(DType::kF32, {100000}));
  state.add("half", tensor({2}, {1, INFINITY}, DType::kF16));
  CHECK(train::all_finite(state, names));
  for (const float bad : {INFINITY, -INFINITY, NAN})
    for (const int64_t at : {0, 65536, 99999}) {
      std::vector<double> values(100000);
      values[static_cast<size_t>(at)] = static_cast<double>(bad);
      state.set("b", tensor({100000}, values));
      CHECK(!train::all_finite(state, names));
    }
  CHECK(!train::all_finite(state, std::vector<std::string>{"half"}));
}

TEST_CASE("gradients that float16 has no numbers for train with a scale, and not without") {
  train::Recipe r = in_fp16("sgd");
  r.settings.momentum = 0;
  r.objective = scaled_mse(1e-8);
  for (const double scale : {65536.0, 1.0}) {
    Run run(r, loop(1e7), scale);
    const double first = run.trainer.step().loss;
    double last = 0;
    for (int i = 0; i < 300; ++i) last = run.trainer.step().loss;
    INFO(first << " to " << last << " with " << scale);
    if (scale > 1)
      CHECK(last < 1e-3 * first);
    else
      CHECK(weights(run.graphs) == std::vector<double>{0.5, -1, 2});
  }
}

TEST_CASE("gradients are divided by the scale before they are clipped and shown") {
  std::vector<double> norms;
  for (const double scale : {1.0, 1024.0}) {
    train::Recipe r = in_fp16("sgd");
    r.clip = 0.5;
    Run run(r, loop(0.1), scale);
    norms.push_back(run.trainer.step().norm);
  }
  CHECK(norms[0] > 0.5);
  CHECK(norms[1] == norms[0]);
}

TEST_CASE("an update whose gradients overflow is as if it had not been, and halves the scale") {
  const double fits = largest_scale();
  CHECK(fits > 1024);
  CHECK(fits < 0x1p40);
  Run run(2 * fits);
  const train::StepReport skipped = run.trainer.step();
  CHECK(skipped.skipped);
  CHECK(skipped.loss_scale == 2 * fits);
  CHECK(std::isfinite(skipped.loss));
  CHECK(weights(run.graphs) == std::vector<double>{0.5, -1, 2});
  CHECK(run.trainer.loss_scale().value == fits);
  const train::StepReport good = run.trainer.step();
  CHECK(!good.skipped);
  CHECK(run.trainer.loss_scale().skipped == 1);
  // A training that begins with the second batch makes the same update, its first.
  Run other(in_fp16("adamw"), loop(0.05, 8), standing(1, {fits, 0, 1}));
  CHECK(other.trainer.step().loss == good.loss);
  CHECK(weights(other.graphs) == weights(run.graphs));
}

TEST_CASE("what overflowed does not stay in gradients that are added up") {
  train::LoopSettings portions = loop(0.05, 8);
  portions.accumulate = 2;
  train::Recipe r = in_fp16("adamw");
  r.accumulate = true;
  Run run(r, portions, 0x1p40), never(r, portions, 1024);
  while (run.trainer.step().skipped) {
  }
  never.trainer.step();  // every batch is all of the data
  for (size_t k = 0; k < 3; ++k) CHECK(weights(run.graphs)[k] == Approx(weights(never.graphs)[k]).epsilon(0.002));
}

TEST_CASE("a training that no scale helps ends, and says where numbers leave the range") {
  train::Recipe r = in_fp16("sgd");
  r.objective = scaled_mse(1000);  // errors of thousands are in the range of float16, their derivatives are not
  Run run(r, loop(0.1), 4);
  run.graphs.state->set("w", tensor({3, 1}, {3e3, -3e3, 3e3}));
  CHECK(run.trainer.step().skipped);
  CHECK(run.trainer.step().skipped);
  const Error error = thrown_by([&] { run.trainer.step(); });
  CHECK(error.code == Code::kBadInput);
  INFO(error.message << error.where << error.fix);
  CHECK(
      says(error,
           "the gradients are not finite, even without a scale of the loss: update 3, first in Cast giving 'MatMul/"));
  CHECK(error.fix.find("--keep-fp32") != std::string::npos);
}

TEST_CASE("a loss that is not finite is no matter of its scale") {
  Run run(65536);
  run.graphs.state->set("w", tensor({3, 1}, {1e30, 1e30, 1e30}));
  const Error error = thrown_by([&] { run.trainer.step(); });
  CHECK(says(error, "the loss is"));
}

TEST_CASE("a resumed training has the scale and the numbers of one that went on") {
  const TempDir folder;
  Run whole(0x1p20);
  for (int i = 0; i < 6; ++i) whole.trainer.step();
  CHECK(whole.trainer.loss_scale().skipped > 0);
  CHECK(whole.trainer.loss_scale().good > 0);
  train::open_checkpoints(folder / "kept", false);
  save_checkpoint(folder / "kept", whole.graphs,
                  {whole.trainer.done(), whole.trainer.slower(), "r", whole.trainer.loss_scale()});
  const train::TrainingGraphs later = train::make_graphs(linear().model, {{8, 3}}, in_fp16("adamw"), standard_types);
  const auto kept = load_checkpoint(folder / "kept", later, "r", [](const std::string& text) { FAIL(text); });
  REQUIRE(kept);
  train::Trainer resumed(later, whole.data, *whole.backend, {}, loop(0.05, 8), *kept);
  CHECK(resumed.loss_scale().good == whole.trainer.loss_scale().good);
  for (int i = 0; i < 5; ++i) CHECK(resumed.step().loss == whole.trainer.step().loss);
  CHECK(weights(later) == weights(whole.graphs));
  CHECK(resumed.loss_scale().value == whole.trainer.loss_scale().value);
  CHECK(resumed.loss_scale().skipped == whole.trainer.loss_scale().skipped);
}

TEST_CASE("a checkpoint without a scale is of another training") {
  const TempDir folder;
  train::Recipe plain = recipe("sgd");
  const train::TrainingGraphs before = train::make_graphs(linear().model, {{4, 3}}, plain, standard_types);
  const train::TrainingGraphs later = train::make_graphs(linear().model, {{4, 3}}, in_fp16("sgd"), standard_types);
  train::open_checkpoints(folder / "kept", false);
  save_checkpoint(folder / "kept", before, {1, 1, "r"});
  CHECK(says(thrown_by([&] { load_checkpoint(folder / "kept", later, "r", {}); }), "lacks 'train/loss-scale'"));
}

namespace {

/// What two ranks have after some updates from this scale on: the weights of both, and the scales.
struct Pair {
  std::vector<double> weights[2];
  train::LossScale scales[2];
};

Pair on_two_ranks(double scale, int steps, const char* compression, int64_t local_steps) {
  const MemoryData data = line();
  Pair pair;
  with_ranks(2, [&](train::Communicator& ranks) {
    const train::TrainingGraphs graphs = train::make_graphs(linear().model, {{4, 3}}, in_fp16("adamw"), standard_types);
    train::LoopSettings l = loop(0.05, 8);
    l.ranks = {&ranks, [](train::Communicator*) {}};
    l.compression = train::parse_compression(compression);
    l.local_steps = local_steps;
    const auto backend = reference_backend();
    CompileOptions compile;
    compile.threads = 1;
    train::Trainer trainer(graphs, data, *backend, compile, l, standing(0, {scale}));
    for (int i = 0; i < steps; ++i) trainer.step();
    pair.weights[ranks.rank()] = weights(graphs);
    pair.scales[ranks.rank()] = trainer.loss_scale();
  });
  return pair;
}

}  // namespace

TEST_CASE("ranks leave out the same updates and keep one scale") {
  Run one(in_fp16("adamw"), loop(0.05, 8), 1024);
  for (int i = 0; i < 4; ++i) one.trainer.step();
  for (const char* compression : {"", "fp16", "topk:50%", "1bit"}) {
    const Pair many = on_two_ranks(0x1p22, 30, compression, 1);
    INFO(compression);
    CHECK(many.weights[0] == many.weights[1]);
    CHECK(many.scales[0].value == many.scales[1].value);
    CHECK(many.scales[0].skipped == many.scales[1].skipped);
    CHECK(many.scales[0].skipped > 2);
    CHECK(many.scales[0].skipped < 20);
    for (const double w : many.weights[0]) CHECK(std::isfinite(w));
  }
  const int skipped = static_cast<int>(on_two_ranks(0x1p22, 30, "", 1).scales[0].skipped);
  const Pair many = on_two_ranks(0x1p22, skipped + 4, "", 1);
  REQUIRE(many.scales[0].skipped == skipped);
  for (size_t k = 0; k < 3; ++k) CHECK(many.weights[0][k] == Approx(weights(one.graphs)[k]).epsilon(0.005));
}

TEST_CASE("ranks that train by themselves have one scale after each mean") {
  const Pair pair = on_two_ranks(0x1p22, 30, "", 3);
  CHECK(pair.weights[0] == pair.weights[1]);
  CHECK(pair.scales[0].value == pair.scales[1].value);
  CHECK(pair.scales[0].skipped == pair.scales[1].skipped);
  CHECK(pair.scales[0].skipped > 2);
}

}  // namespace mlopt::test
