#include "core/train/graphs.h"

#include <algorithm>
#include <map>

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/gradients.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// Convolution, BatchNormalization, ReLU and a classifier, from pictures to two classes.
Net classifier() {
  Net net;
  Graph& graph = net.graph();
  const auto weights = [&](const char* name, Dims dims, double low = -1) {
    return graph.add_constant(name, uniform(dims, low, 1, DType::kF32, graph.values().size()));
  };
  Value* conv = net.op("Conv", {net.input({4, 3, 6, 6}), weights("conv.w", {5, 3, 3, 3})});
  Value* norm = net.op("BatchNormalization", {conv, weights("bn.scale", {5}, 0.5), weights("bn.bias", {5}),
                                              weights("bn.mean", {5}), weights("bn.var", {5}, 0.5)});
  Value* pooled = net.op("Flatten", {net.op("GlobalAveragePool", {net.op("Relu", {norm})})});
  net.output(net.op("Gemm", {pooled, weights("fc.w", {5, 2}), weights("fc.b", {2})}));
  infer(net.model, standard_types);
  return net;
}

train::Recipe recipe(bool train_batch_norm) {
  train::Recipe r;
  r.loss = train::find_loss("cross-entropy");
  r.optimizer = train::find_optimizer("sgd");
  r.train_batch_norm = train_batch_norm;
  return r;
}

const std::vector<std::string> kTrained = {"conv.w", "bn.scale", "bn.bias", "fc.w", "fc.b"};

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// The gradients that a run leaves in the state.
std::map<std::string, Tensor> gradients(Backend& backend, const train::TrainingGraphs& graphs) {
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  const std::vector<Datum> inputs = {uniform({4, 3, 6, 6}, -1, 1), tensor({4}, {0, 1, 1, 0}, DType::kI64)};
  const std::vector<Datum> outputs = backend.compile(graphs.gradients, options)->run(inputs);
  CHECK(outputs.size() == 2);
  std::map<std::string, Tensor> found;
  for (const std::string& name : graphs.parameters) found[name] = graphs.state->at(name + "/gradient");
  for (const std::string& name : graphs.statistics) found[name] = graphs.state->at(name);
  return found;
}

}  // namespace

TEST_CASE("both backends find the same gradients and statistics") {
  for (const bool by_batch : {false, true}) {
    const Net net = classifier();
    const auto make = [&] { return train::make_graphs(net.model, {{4, 3, 6, 6}}, recipe(by_batch), standard_types); };
    const train::TrainingGraphs plain = make(), fast = make();
    verify(plain.gradients);
    verify(plain.update);
    CHECK(sorted(plain.parameters) == sorted(kTrained));
    CHECK(plain.statistics == (by_batch ? std::vector<std::string>{"bn.mean", "bn.var"} : std::vector<std::string>{}));
    CHECK(plain.trained == 5 * 27 + 5 + 5 + 10 + 2);
    const auto expected = gradients(*reference_backend(), plain), found = gradients(*cpu_with_fallback(), fast);
    REQUIRE(expected.size() == kTrained.size() + (by_batch ? 2 : 0));
    for (const auto& [name, tensor] : expected) {
      INFO(name << (by_batch ? ", by the batch" : ""));
      require_close(found.at(name), tensor, 1e-5);
      CHECK(to_doubles(tensor)[0] != 0);
    }
  }
}

TEST_CASE("what was trained goes back into the model, whose nodes stay") {
  Net net = classifier();
  const std::string before = listed_ops(net.model);
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3, 6, 6}}, recipe(true), standard_types);
  graphs.state->set("fc.b", tensor({2}, {7, 8}));
  graphs.state->set("bn.mean", tensor({5}, {1, 2, 3, 4, 5}));
  train::store_weights(net.model, graphs);
  CHECK(listed_ops(net.model) == before);
  require_close(*net.graph().find("fc.b")->constant, tensor({2}, {7, 8}));
  require_close(*net.graph().find("bn.mean")->constant, tensor({5}, {1, 2, 3, 4, 5}));
}

TEST_CASE("an objective takes the place of the loss, and what it learns is no part of the model") {
  Net net = classifier();
  train::Recipe r = recipe(true);
  r.objective = [](train::LossArgs& args) {
    Graph& graph = args.build.graph();
    Value* tap = graph.find("bn.out");  // a name that outlives the change of what makes it
    REQUIRE(tap);
    Value* own = graph.add_constant("own", tensor({1}, {2}));
    graph.add_constant("other", tensor({2}, {1, 2}));
    return train::LossGraph{
        nullptr, args.build.op("Mul", {args.build.mean(tap), args.build.op("Squeeze", {own})}), {own}};
  };
  Node* norm = net.graph().find("bn.scale")->uses[0].node;
  net.graph().rename(norm->output(0), "bn.out");
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3, 6, 6}}, r, standard_types);
  CHECK(graphs.labels.empty());
  CHECK(sorted(graphs.parameters) == std::vector<std::string>{"bn.bias", "bn.scale", "conv.w", "own"});
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  const std::vector<Datum> inputs = {uniform({4, 3, 6, 6}, -1, 1)};
  const std::vector<Datum> outputs = reference_backend()->compile(graphs.gradients, options)->run(inputs);
  CHECK(2 * to_doubles(graphs.state->at("own/gradient"))[0] ==
        Approx(to_doubles(outputs.back().tensor())[0]).epsilon(1e-5));
  train::store_weights(net.model, graphs);
  CHECK(!net.graph().find("own"));
}

TEST_CASE("what cannot be trained says why") {
  Net net = classifier();
  train::Recipe r = recipe(true);
  r.output = "logits";
  CHECK(says(thrown_by([&] {
               train::make_graphs(net.model, {{4, 3, 6, 6}}, r, standard_types);
             }),
             "no output 'logits'"));
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3, 6, 6}}, recipe(true), standard_types);
  for (const StateUpdate& update : graphs.gradient_updates) {  // no output of the model
    r.output = update.output;
    CHECK(says(thrown_by([&] { train::make_graphs(net.model, {{4, 3, 6, 6}}, r, standard_types); }), "no output '"));
  }
  r = recipe(true);
  r.choice.only = {"bn.var"};
  r.train_batch_norm = false;
  const Error error = thrown_by([&] { train::make_graphs(net.model, {{4, 3, 6, 6}}, r, standard_types); });
  CHECK(says(error, "the loss depends on nothing that is trained"));
}

TEST_CASE("GELU trains as one operator, however it is spelt, and the model keeps its spelling") {
  Net net;
  const auto number = [&](double x) { return net.constant(tensor({}, {x})); };
  Value* x = net.op("MatMul", {net.input({4, 3}), net.graph().add_constant("w", uniform({3, 2}, -1, 1))});
  Value* factor = net.op("Add", {net.op("Erf", {net.op("Div", {x, number(1.4142135)})}), number(1)});
  net.output(net.op("Mul", {net.op("Mul", {x, factor}), number(0.5)}));
  infer(net.model, standard_types);
  const std::string source = listed_ops(net.model);
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe(false), standard_types);
  const std::string ops = listed_ops(graphs.gradients);
  INFO(ops);
  CHECK(ops.find("Gelu 1") != std::string::npos);
  CHECK(ops.find("UnaryGrad 1") != std::string::npos);
  CHECK(ops.find("Erf") == std::string::npos);
  CHECK(listed_ops(net.model) == source);
}

}  // namespace mlopt::test
