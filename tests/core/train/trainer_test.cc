#include "core/train/trainer.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/gpu.h"
#include "tests/support/line_fit.h"
#include "tests/support/ranks.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
TEST_CASE("an update of a linear model is the one done by hand") {
  const MemoryData data = line();
  for (const bool fast : {false, true}) {
    const Net net = linear();
    train::Recipe r = recipe("sgd");
    r.settings.momentum = 0;
    const train::TrainingGraphs graphs = train::make_graphs(net.model, {{8, 3}}, r, standard_types);
    const auto backend = fast ? cpu_with_fallback() : reference_backend();
    train::Trainer trainer(graphs, data, *backend, {}, loop(0.1, 8));
    const train::StepReport report = trainer.step();
    const Batch all = data.batch(0, 8);
    const auto x = all.inputs[0].tensor().span<float>(), y = all.labels->span<float>();
    const double before[3] = {0.5, -1, 2};
    double gradient[3] = {}, loss = 0;
    for (size_t i = 0; i < 8; ++i) {
      double off = -static_cast<double>(y[i]);
      for (size_t k = 0; k < 3; ++k) off += static_cast<double>(x[3 * i + k]) * before[k];
      loss += off * off / 8;
      for (size_t k = 0; k < 3; ++k) gradient[k] += 2 * off * static_cast<double>(x[3 * i + k]) / 8;
    }
    CHECK(report.loss == Approx(loss).epsilon(1e-5));
    for (size_t k = 0; k < 3; ++k) CHECK(weights(graphs)[k] == Approx(before[k] - 0.1 * gradient[k]).epsilon(1e-5));
  }
}

TEST_CASE("every optimizer finds the line") {
  const MemoryData data = line();
  for (const train::OptimizerDef& optimizer : train::optimizers()) {
    const Net net = linear();
    const train::TrainingGraphs graphs =
        train::make_graphs(net.model, {{4, 3}}, recipe(std::string(optimizer.name).c_str()), standard_types);
    const auto backend = cpu_with_fallback();
    train::Trainer trainer(graphs, data, *backend, {}, loop(optimizer.name == "lamb" ? 0.02 : 0.05));
    double first = 0, last = 0;
    for (int i = 0; i < 200; ++i) (i == 0 ? first : last) = trainer.step().loss;
    INFO(optimizer.name << " from " << first << " to " << last);
    CHECK(last < 0.01 * first);
  }
}

TEST_CASE("an update in portions is the update of all at once") {
  const MemoryData data = line();
  std::vector<std::vector<double>> found;
  for (const int64_t portions : {1, 2, 4}) {
    const Net net = linear();
    train::Recipe r = recipe("adamw");
    r.accumulate = portions > 1;
    r.clip = 0.5;
    const train::TrainingGraphs graphs = train::make_graphs(net.model, {{8 / portions, 3}}, r, standard_types);
    train::LoopSettings l = loop(0.1, 8);
    l.accumulate = portions;
    const auto backend = cpu_with_fallback();
    train::Trainer trainer(graphs, data, *backend, {}, l);
    for (int i = 0; i < 3; ++i) CHECK(trainer.step().norm > 0.5);
    found.push_back(weights(graphs));
  }
  for (size_t k = 0; k < 3; ++k) {
    CHECK(found[1][k] == Approx(found[0][k]).epsilon(1e-5));
    CHECK(found[2][k] == Approx(found[0][k]).epsilon(1e-5));
  }
}

namespace {

/// Weights and losses of rank 0 after five updates by so many ranks, the weights of the others beside them.
struct Run {
  std::vector<double> losses;
  std::vector<std::vector<double>> weights;
};
Run run_on(int count, int64_t accumulate, int64_t bucket_bytes) {
  const MemoryData data = line();
  Run run;
  run.weights.resize(static_cast<size_t>(count));
  with_ranks(count, [&](train::Communicator& ranks) {
    const Net net = linear();
    train::Recipe r = recipe("adamw");
    r.accumulate = accumulate > 1;
    r.clip = 0.5;
    const train::TrainingGraphs graphs =
        train::make_graphs(net.model, {{8 / accumulate / count, 3}}, r, standard_types);
    train::LoopSettings l = loop(0.1, 8);
    l.accumulate = accumulate;
    l.ranks = {&ranks, [](train::Communicator*) {}};
    l.bucket_bytes = bucket_bytes;
    const auto backend = cpu_with_fallback();
    CompileOptions compile;
    compile.threads = 1;
    train::Trainer trainer(graphs, data, *backend, compile, l);
    for (int i = 0; i < 5; ++i) {
      const double loss = trainer.step().loss;
      if (ranks.rank() == 0) run.losses.push_back(loss);
    }
    run.weights[static_cast<size_t>(ranks.rank())] = weights(graphs);
  });
  return run;
}

}  // namespace

TEST_CASE("ranks that share a batch train as one process does") {
  const Run one = run_on(1, 1, 1 << 20);
  for (const auto& [count, accumulate, bucket_bytes] : {std::tuple{2, 1, 1 << 20}, {4, 1, 1}, {2, 2, 1}}) {
    const Run many = run_on(count, accumulate, bucket_bytes);
    for (size_t i = 0; i < 5; ++i) CHECK(many.losses[i] == Approx(one.losses[i]).epsilon(1e-5));
    for (const std::vector<double>& w : many.weights) {
      CHECK(w == many.weights[0]);
      for (size_t k = 0; k < 3; ++k) CHECK(w[k] == Approx(one.weights[0][k]).epsilon(1e-5));
    }
  }
}

namespace {

/// y = BatchNormalization(x v) w.
Net normalized() {
  Net net;
  const auto weights = [&](const char* name, const Dims& dims, uint64_t seed) {
    return net.graph().add_constant(name, uniform(dims, 0.5, 1.5, DType::kF32, seed));
  };
  Value* hidden = net.op("MatMul", {net.input({8, 3}), weights("v", {3, 4}, 1)});
  Value* even = net.op("BatchNormalization", {hidden, weights("scale", {4}, 2), weights("bias", {4}, 3),
                                              weights("mean", {4}, 4), weights("variance", {4}, 5)});
  net.output(net.op("MatMul", {even, weights("w", {4, 1}, 6)}));
  infer(net.model, standard_types);
  return net;
}

/// What so many ranks have learned after five updates: the weights and statistics of the last of them.
std::vector<double> normalized_on(int count, const std::function<std::unique_ptr<Backend>()>& backend_of, bool sync) {
  const MemoryData data = line();
  std::vector<double> learned;
  with_ranks(count, [&](train::Communicator& ranks) {
    const Net net = normalized();
    const train::TrainingGraphs graphs = train::make_graphs(net.model, {{8 / count, 3}}, recipe("sgd"), standard_types);
    train::LoopSettings l = loop(0.01, 8);
    l.ranks = {&ranks, [](train::Communicator*) {}};
    l.sync_batch_norm = sync;
    const auto backend = backend_of();
    CompileOptions compile;
    compile.threads = 1;
    train::Trainer trainer(graphs, data, *backend, compile, l);
    for (int i = 0; i < 5; ++i) trainer.step();
    if (ranks.rank() + 1 != count) return;
    for (const char* name : {"v", "scale", "bias", "mean", "variance", "w"})
      for (const double number : to_doubles(graphs.state->at(name))) learned.push_back(number);
  });
  return learned;
}

}  // namespace

TEST_CASE("with statistics of the whole batch, ranks train as one process does") {
  const std::function<std::unique_ptr<Backend>()> backends[] = {reference_backend, cpu_with_fallback,
                                                                [] { return gpu_on_host(); }};
  for (const auto& backend_of : backends) {
    const std::vector<double> one = normalized_on(1, backend_of, true);
    REQUIRE(one.size() == 32);
    for (const int count : {2, 4}) {
      const std::vector<double> many = normalized_on(count, backend_of, true);
      for (size_t i = 0; i < one.size(); ++i) CHECK(many[i] == Approx(one[i]).epsilon(1e-4));
    }
    const std::vector<double> apart = normalized_on(2, backend_of, false);
    double most = 0;
    for (size_t i = 0; i < one.size(); ++i) most = std::max(most, std::abs(apart[i] - one[i]));
    CHECK(most > 1e-3);
  }
}

namespace {

/// Weights after `steps` updates of two ranks that take the mean after every two, and whether both have the same.
std::pair<std::vector<double>, bool> local_after(int steps) {
  const MemoryData data = line();
  std::vector<std::vector<double>> found(2);
  with_ranks(2, [&](train::Communicator& ranks) {
    const Net net = linear();
    const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe("sgd"), standard_types);
    train::LoopSettings l = loop(0.05, 8);
    l.ranks = {&ranks, [](train::Communicator*) {}};
    l.local_steps = 2;
    const auto backend = reference_backend();
    CompileOptions compile;
    compile.threads = 1;
    train::Trainer trainer(graphs, data, *backend, compile, l);
    for (int i = 0; i < steps; ++i) trainer.step();
    found[static_cast<size_t>(ranks.rank())] = weights(graphs);
  });
  return {found[0], found[0] == found[1]};
}

}  // namespace

TEST_CASE("ranks that train by themselves take the mean of their weights now and then") {
  CHECK(!local_after(1).second);
  CHECK(local_after(2).second);
  CHECK(!local_after(3).second);
  const auto [learned, same] = local_after(300);
  CHECK(same);
  for (size_t k = 0; k < 3; ++k) CHECK(learned[k] == Approx(k == 0 ? 1 : k == 1 ? -2 : 3).epsilon(0.01));
}

namespace {

/// Of numbers a hundredth as large, so that squares of gradients are 0 in float16.
MemoryData small_line(DType type) {
  const Batch all = line().batch(0, 8);
  const auto scaled = [](const Tensor& tensor) {
    std::vector<double> numbers = to_doubles(tensor);
    for (double& x : numbers) x *= 0.01;
    return Tensor::of<double>(tensor.dims(), numbers);
  };
  return {cast(scaled(all.inputs[0].tensor()), type), scaled(*all.labels)};
}

}  // namespace

TEST_CASE("weights of half floats are trained as float32 and read rounded") {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    Net net = linear();
    for (Value* v : net.graph().values()) {
      v->type.dtype = type;
      if (v->constant) v->constant = cast(*v->constant, type);
    }
    const MemoryData data = small_line(type);
    for (const char* optimizer : {"sgd", "adam", "adamw", "lamb"}) {
      train::Recipe r = recipe(optimizer);
      r.clip = 1;
      r.average = 0.5;
      r.accumulate = true;
      const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, r, standard_types);
      for (const StateUpdate& update : graphs.parameter_updates)
        CHECK(graphs.state->at(update.state).dtype() == DType::kF32);
      const auto backend = cpu_with_fallback();
      train::LoopSettings l = loop(std::string_view(optimizer) == "sgd" ? 200 : 0.05, 8);
      l.accumulate = 2;
      train::Trainer trainer(graphs, data, *backend, {}, l);
      double first = 0, last = 0;
      for (int i = 0; i < 150; ++i) (i == 0 ? first : last) = trainer.step().loss;
      INFO(name(type) << ' ' << optimizer << " from " << first << " to " << last);
      CHECK(last < 0.1 * first);
      Model trained = clone(net.model);
      train::store_weights(trained, graphs);
      const Tensor& w = *trained.graph->find("w")->constant;
      CHECK(w.dtype() == type);
      require_close(w, cast(graphs.state->at("w/average"), type), 0);
    }
  }
}

TEST_CASE("a loss that is no number ends the training and leaves the weights") {
  MemoryData data = line(NAN);
  const Net net = linear();
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe("sgd"), standard_types);
  const auto backend = reference_backend();
  train::Trainer trainer(graphs, data, *backend, {}, loop(0.1));
  const Error error = thrown_by([&] { trainer.step(); });
  CHECK(error.code == Code::kBadInput);
  CHECK(says(error, "the loss is nan: update 1, first in the input 'train/labels'"));
  CHECK(weights(graphs) == std::vector<double>{0.5, -1, 2});
}

}  // namespace mlopt::test
