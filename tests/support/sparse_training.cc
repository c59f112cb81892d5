#include "tests/support/sparse_training.h"

#include <algorithm>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSamples = 64;

MemoryData samples() {
  const Tensor x = uniform({kSamples, 6}, -1, 1);
  Tensor y(DType::kF32, {kSamples, 1});
  for (int64_t i = 0; i < kSamples; ++i)
    y.mutable_data<float>()[i] = std::abs(x.data<float>()[6 * i]) - 0.5F * x.data<float>()[6 * i + 1];
  return {x, y};
}

std::map<std::string, std::vector<double>> weights_of(const train::TrainingGraphs& graphs) {
  std::map<std::string, std::vector<double>> all;
  for (const std::string& name : graphs.parameters) all[name] = to_doubles(graphs.state->at(name));
  return all;
}

}  // namespace

Net sparse_network() {
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

Net normalized_network() {
  Net net = sparse_network();
  Graph& graph = net.graph();
  Node* relu = graph.find("v")->uses[0].node->input(0)->producer;
  const auto numbers = [&](const char* name, double low, double high) {
    return graph.add_constant(name, uniform({16}, low, high, DType::kF32, graph.values().size()));
  };
  Value* normal = net.op("BatchNormalization", {relu->input(0), numbers("scale", 0.5, 1.5), numbers("shift", -0.1, 0.1),
                                                numbers("mean", -0.1, 0.1), numbers("var", 0.5, 1.5)});
  graph.set_input(relu, 0, normal);
  graph.sort();
  infer(net.model, standard_types);
  return net;
}

SparseTraining train_sparse(const Net& net, const std::function<void(train::Recipe& recipe)>& change,
                            const train::TrainingHooks& hooks, double rate) {
  const MemoryData data = samples();
  train::Recipe recipe;
  recipe.loss = train::find_loss("mse");
  recipe.optimizer = train::find_optimizer("adam");
  recipe.choice.freeze = {"c"};
  change(recipe);
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{8, 6}}, recipe, standard_types);
  train::LoopSettings loop;
  loop.batch = 8;
  loop.schedule = {train::find_schedule("constant"), rate, SparseTraining::kSteps};
  const auto backend = cpu_with_fallback();
  train::Trainer trainer(graphs, data, *backend, {}, loop);
  SparseTraining t;
  for (std::optional<int64_t> from = 0; from; from = hooks.after ? hooks.after(graphs) : std::nullopt) {
    if (*from != trainer.done()) trainer.rewind(*from);
    for (int64_t i = *from; i < SparseTraining::kSteps; ++i) {
      if (hooks.before) hooks.before(i, graphs);
      (i == 0 ? t.first : t.last) = trainer.step().loss;
      if (i == SparseTraining::kSteps * 3 / 4) t.weights = weights_of(graphs);
    }
  }
  t.at_end = weights_of(graphs);
  return t;
}

double error_with(const std::map<std::string, std::vector<double>>& weights) {
  const MemoryData data = samples();
  const Batch batch = data.batch(0, kSamples);
  const std::vector<double> x = to_doubles(batch.inputs[0].tensor()), y = to_doubles(*batch.labels);
  const auto &w = weights.at("w"), &b = weights.at("b"), &v = weights.at("v");
  const double c = to_doubles(*sparse_network().graph().find("c")->constant)[0];  // it is not trained
  double sum = 0;
  for (size_t n = 0; n < y.size(); ++n) {
    double out = c;
    for (size_t h = 0; h < 16; ++h) {
      double neuron = b[h];
      for (size_t i = 0; i < 6; ++i) neuron += x[6 * n + i] * w[16 * i + h];
      out += std::max(0.0, neuron) * v[h];
    }
    sum += (out - y[n]) * (out - y[n]);
  }
  return sum / static_cast<double>(y.size());
}

double zeros(const std::vector<double>& weights) {
  return static_cast<double>(std::count(weights.begin(), weights.end(), 0.0)) / static_cast<double>(weights.size());
}

}  // namespace mlopt::test
