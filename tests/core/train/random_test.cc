#include "core/train/random.h"

#include <set>

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

Model with(const std::string& drawing) {
  Model model =
      fixture(fmt::format("g (float[N,8] x, float[8] P) => (float[M,8] y) {{ {}  y = Mul (e, P) }}", drawing));
  infer(model, standard_types);
  return model;
}

/// The losses of `count` updates from `first` on, by a rate that changes nothing.
std::vector<double> losses_from(int64_t first, int64_t count, const Model& model) {
  train::Recipe r;
  r.loss = train::find_loss("mse");
  r.optimizer = train::find_optimizer("sgd");
  r.dropout = train::parse_dropout("model");
  train::LoopSettings l;
  l.batch = 4;
  l.schedule = {train::find_schedule("constant"), 1e-30, 100, 0};
  const train::TrainingGraphs graphs = train::make_graphs(model, {{4, 8}}, r, standard_types);
  CHECK(verify(graphs.gradients).empty());
  CHECK(graphs.dropouts.repeating.empty());
  const MemoryData all(Tensor::zeros(DType::kF32, {4, 8}), Tensor::zeros(DType::kF32, {4, 8}));
  const auto backend = cpu_with_fallback();
  train::Standing standing;
  standing.steps = first;
  train::Trainer trainer(graphs, all, *backend, {}, l, standing);
  std::vector<double> losses;
  for (int64_t i = 0; i < count; ++i) losses.push_back(trainer.step().loss);
  return losses;
}

}  // namespace

TEST_CASE("random numbers are others in each update, and the same when it is made again") {
  for (const char* drawing : {"e = RandomNormalLike (x)", "e = RandomUniformLike <low = 1.0, high = 2.0> (x)",
                              "e = RandomNormal <shape = [4, 8], mean = 3.0, scale = 0.5, seed = 1.0> ()",
                              "e = RandomUniform <shape = [4, 8]> ()",
                              "h = Constant <value_float = 0.5> ()  q = Add (x, h)  e = Bernoulli (q)",
                              "d = RandomNormalLike <dtype = 11> (x)  e = Cast <to = 1> (d)"}) {
    INFO(drawing);
    const Model model = with(drawing);
    const std::vector<double> losses = losses_from(0, 4, model);
    CHECK(std::set<double>(losses.begin(), losses.end()).size() == 4);
    CHECK(losses_from(2, 2, model) == std::vector<double>(losses.begin() + 2, losses.end()));
  }
}

TEST_CASE("random numbers have the range that the node says") {
  const Model model = with("e = RandomUniformLike <low = 2.0, high = 2.0> (x)");
  const std::vector<double> losses = losses_from(0, 1, model);
  double squares = 0;
  for (const double p : to_doubles(*model.graph->find("P")->constant)) squares += p * p / 8;
  CHECK(losses[0] == Approx(4 * squares));
}

TEST_CASE("what goes on to draw the same is named") {
  const Model model = fixture(R"(g (float[N,8] x, bool c, float[8] P) => (float[M,8] y) {
    e = If (c) <then_branch = t () => (float[N,8] a) { a = RandomNormalLike (x) }, else_branch = f () => (float[N,8] b) { b = Relu (x) }>
    m = Multinomial (x)  d = RandomNormalLike (x)  y = Mul (e, P)
  })");
  CHECK(train::random_nodes(model).size() == 1);
  const std::vector<std::string> labels = train::repeating(model);
  REQUIRE(labels.size() == 3);
  CHECK(labels[1].find("Multinomial") != std::string::npos);
}

}  // namespace mlopt::test
