#include "core/train/recompute.h"

#include <algorithm>
#include <map>

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/train/graphs.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

constexpr int kLayers = 9;

/// Layers of Gemm, BatchNormalization and Tanh with a residual around every other one.
Model tower() {
  Net net;
  const auto weights = [&](const std::string& name, Dims dims, double low = -0.5) {
    return net.graph().add_constant(name, uniform(dims, low, 0.9, DType::kF32, net.graph().values().size()));
  };
  Value *x = net.input({6, 8}), *before = x;
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    Value* y = net.op("Gemm", {x, weights(name + ".w", {8, 8})});
    y = net.op("BatchNormalization", {y, weights(name + ".scale", {8}, 0.5), weights(name + ".bias", {8}),
                                      weights(name + ".mean", {8}), weights(name + ".var", {8}, 0.5)});
    y = net.op("Tanh", {y});
    if (i % 2 == 1) y = net.op("Add", {y, before});
    if (i % 2 == 1) before = y;
    x = y;
  }
  net.output(net.op("Gemm", {x, weights("head.w", {8, 3})}));
  infer(net.model, standard_types);
  return std::move(net.model);
}

train::TrainingGraphs graphs_of(const std::string& how) {
  train::Recipe r;
  r.loss = train::find_loss("cross-entropy");
  r.optimizer = train::find_optimizer("sgd");
  r.recompute = train::parse_recompute(how);
  return train::make_graphs(tower(), {{6, 8}}, r, standard_types);
}

std::map<std::string, Tensor> gradients(Backend& backend, const train::TrainingGraphs& graphs) {
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  const std::vector<Datum> inputs = {uniform({6, 8}, -1, 1), tensor({6}, {0, 1, 2, 0, 1, 2}, DType::kI64)};
  backend.compile(graphs.gradients, options)->run(inputs);
  std::map<std::string, Tensor> found;
  for (const std::string& name : graphs.parameters) found[name] = graphs.state->at(name + "/gradient");
  for (const std::string& name : graphs.statistics) found[name] = graphs.state->at(name);
  return found;
}

}  // namespace

TEST_CASE("computing again changes no bit of the gradients and statistics") {
  for (const auto& make : {reference_backend, cpu_with_fallback}) {
    const std::unique_ptr<Backend> backend = make();
    const auto expected = gradients(*backend, graphs_of(""));
    const train::TrainingGraphs again = graphs_of("sqrt");
    CHECK(verify(again.gradients).empty());
    CHECK(again.recomputed.nodes > kLayers);
    const auto found = gradients(*backend, again);
    REQUIRE(found.size() == expected.size());
    for (const auto& [name, tensor] : expected) {
      INFO(name);
      require_close(found.at(name), tensor, 0);
    }
  }
}

TEST_CASE("computing again takes less memory at once") {
  const train::Recomputed done = graphs_of("sqrt").recomputed;
  CHECK(done.bytes_after < 0.8 * static_cast<double>(done.bytes_before));
}

TEST_CASE("what is too little memory is said, with what would do") {
  const auto how = [](int64_t bytes) {
    train::TrainingGraphs graphs = graphs_of("");
    const auto& outputs = graphs.gradients.graph->outputs();
    const auto loss = std::find_if(outputs.begin() + 1, outputs.end(),
                                   [&](const Value* v) { return !find_update(graphs.gradient_updates, v->name); });
    return train::recompute(graphs.gradients, (*loss)->name, {true, bytes});
  };
  const train::Recomputed whole = how(1 << 30);
  CHECK(whole.pieces == 1);
  CHECK(whole.nodes == 0);
  const train::Recomputed less = how(whole.bytes_before - 1);
  CHECK(less.pieces > 1);
  CHECK(less.bytes_after < whole.bytes_before);
  CHECK(says(thrown_by([&] { how(100); }), "the least is 1 MB"));
}

TEST_CASE("--recompute takes sqrt or megabytes") {
  CHECK_FALSE(train::parse_recompute("").on);
  CHECK(train::parse_recompute("sqrt").bytes == 0);
  CHECK(train::parse_recompute("300").bytes == 300'000'000);
  CHECK_THROWS_AS(train::parse_recompute("0"), Error);
  CHECK_THROWS_AS(train::parse_recompute("much"), Error);
}

}  // namespace mlopt::test
