#include "prune/penalties.h"

#include <algorithm>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSteps = 400;

/// x [N, 6] -> 16 neurons -> 1 number, of which the data need the first two inputs only.
Net network() {
  Net net;
  Graph& graph = net.graph();
  const auto weights = [&](const char* name, const Dims& dims) {
    return graph.add_constant(name, uniform(dims, -0.5, 0.5, DType::kF32, graph.values().size()));
  };
  Value* hidden = net.op("Relu", {net.op("Gemm", {net.input({8, 6}), weights("w", {6, 16}), weights("b", {16})})});
  net.output(net.op("Gemm", {hidden, weights("v", {16, 1}), weights("c", {1})}));
  infer(net.model, standard_types);
  return net;
}

MemoryData samples() {
  const Tensor x = uniform({64, 6}, -1, 1);
  Tensor y(DType::kF32, {64, 1});
  for (int64_t i = 0; i < 64; ++i)
    y.mutable_data<float>()[i] = std::abs(x.data<float>()[6 * i]) - 0.5F * x.data<float>()[6 * i + 1];
  return {x, y};
}

struct Trained {
  std::map<std::string, std::vector<double>> weights, at_end;  ///< when the penalty ends, and after the training
  double first = 0, last = 0;                                  ///< losses
};

std::map<std::string, std::vector<double>> weights_of(const train::TrainingGraphs& graphs) {
  std::map<std::string, std::vector<double>> all;
  for (const std::string& name : graphs.parameters) all[name] = to_doubles(graphs.state->at(name));
  return all;
}

Trained train_with(const prune::Spec& spec) {
  const Net net = network();
  const MemoryData data = samples();
  train::Recipe recipe;
  recipe.loss = train::find_loss("mse");
  recipe.optimizer = train::find_optimizer("adam");
  recipe.constrain = [&](train::Constraint& at) {
    prune::find_penalty("", spec.granularity).add(at, net.model, spec, {*spec.sparsity, kSteps});
  };
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{8, 6}}, recipe, standard_types);
  train::LoopSettings loop;
  loop.batch = 8;
  loop.schedule = {train::find_schedule("constant"), 0.01, 0, kSteps};
  const auto backend = cpu_with_fallback();
  train::Trainer trainer(graphs, data, *backend, {}, loop);
  Trained t;
  for (int64_t i = 0; i < kSteps; ++i) {
    (i == 0 ? t.first : t.last) = trainer.step().loss;
    if (i == kSteps * 3 / 4) t.weights = weights_of(graphs);
  }
  t.at_end = weights_of(graphs);
  return t;
}

prune::Spec spec_of(const std::string& granularity, const std::string& allocation) {
  prune::Spec spec;
  spec.granularity = prune::parse_granularity(granularity);
  spec.sparsity = 0.5;
  spec.allocation = allocation;
  return spec;
}

double zeros(const std::vector<double>& weights) {
  return static_cast<double>(std::count(weights.begin(), weights.end(), 0.0)) / static_cast<double>(weights.size());
}

}  // namespace

TEST_CASE("l1 pulls as many weights to zero as are asked for, and they stay there") {
  const Trained global = train_with(spec_of("element", "global"));
  CHECK(global.last < 0.3 * global.first);
  const double share = (96 * zeros(global.at_end.at("w")) + 16 * zeros(global.at_end.at("v"))) / 112;
  CHECK(share == Approx(0.5).margin(0.06));
  for (const char* name : {"w", "v"})
    for (size_t i = 0; i < global.at_end.at(name).size(); ++i)
      CHECK((global.weights.at(name)[i] == 0) == (global.at_end.at(name)[i] == 0));
  CHECK(zeros(global.at_end.at("b")) == 0);  // biases are no weights
  const Trained uniform = train_with(spec_of("element", "uniform"));
  for (const char* name : {"w", "v"}) CHECK(zeros(uniform.at_end.at(name)) == Approx(0.5).margin(0.1));
}

TEST_CASE("group LASSO pulls neurons to zero in all that belongs to them") {
  const Trained t = train_with(spec_of("channel", "uniform"));
  CHECK(t.last < 0.3 * t.first);
  const auto &w = t.at_end.at("w"), &b = t.at_end.at("b"), &v = t.at_end.at("v");
  int gone = 0;
  for (size_t c = 0; c < 16; ++c) {
    int there = (b[c] != 0) + (v[c] != 0);
    for (size_t i = 0; i < 6; ++i) there += w[16 * i + c] != 0;
    CHECK((there == 0 || there == 8));
    gone += there == 0;
  }
  CHECK(gone >= 7);
  CHECK(gone <= 9);
}

TEST_CASE("a penalty goes with a granularity") {
  CHECK(prune::find_penalty("", prune::parse_granularity("channel")).name == "group-lasso");
  const Error error = thrown_by([] { prune::find_penalty("l1", prune::parse_granularity("channel")); });
  CHECK(error.code == Code::kUsage);
}

}  // namespace mlopt::test
