#include "cli/train/preparation.h"

#include <map>

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/report/report.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

using namespace mlopt;
using namespace mlopt::test;

namespace {

train::Recipe recipe_of(const std::string& recompute = "", DType type = DType::kF32) {
  train::Recipe r;
  r.loss = train::find_loss("cross-entropy");
  r.optimizer = train::find_optimizer("adam");
  r.recompute = train::parse_recompute(recompute);
  r.precision.type = type;
  return r;
}

/// Two layers with a BatchNormalization between them, and nodes that do nothing.
train::TrainingGraphs graphs_of(const std::string& recompute = "") {
  Net net;
  const auto weights = [&](const char* name, const Dims& dims, double low = -1) {
    return net.graph().add_constant(name, uniform(dims, low, 1, DType::kF32, net.graph().values().size()));
  };
  Value* x = net.op("Identity", {net.input({8, 6})});
  for (const char* layer : {"a", "b", "c"}) {
    x = net.op("MatMul", {x, weights(layer, {6, 6})});
    x = net.op("Tanh", {net.op("Transpose", {net.op("Transpose", {x})})});
  }
  x = net.op("BatchNormalization", {x, weights("scale", {6}, 0.5), weights("bias", {6}), weights("mean", {6}),
                                    weights("variance", {6}, 0.5)});
  net.output(net.op("Gemm", {x, weights("w", {6, 3}), weights("v", {3})}));
  infer(net.model, standard_types);
  return train::make_graphs(net.model, {{8, 6}}, recipe_of(recompute), standard_types);
}

std::vector<Datum> inputs() { return {uniform({8, 6}, -1, 1), tensor({8}, {0, 1, 2, 0, 1, 2, 2, 0}, DType::kI64)}; }

/// The loss, gradients and statistics of one run.
std::map<std::string, Tensor> run(const train::TrainingGraphs& graphs) {
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  std::map<std::string, Tensor> found;
  found["loss"] = cpu_with_fallback()->compile(graphs.gradients, options)->run(inputs()).back().tensor();
  for (const StateUpdate& update : graphs.gradient_updates) found[update.state] = graphs.state->at(update.state);
  return found;
}

}  // namespace

TEST_CASE("a model whose branch a setting and shapes choose is trained like that branch alone") {
  const char* const kChoice = R"(<ir_version: 8, opset_import: ["" : 17]>
    net (float[N,3] x, int64 rate) => (float[N,2] y)
    <float[3,2] a = {1, 2, 3, 4, 5, 6}, float[3,2] b = {6, 5, 4, 3, 2, 1}, int64 wide = {16}, int64[2] three = {1, 3}> {
      c = Equal (rate, wide)
      y = If (c) <then_branch = t () => (float[N,2] p) {
                    s = Shape (x)  m = ReduceMax <keepdims = 0> (s)  w = Constant <value = int64 {4}> ()
                    k = Equal (m, w)
                    p = If (k) <then_branch = u () => (float[N,2] q) { q = MatMul (x, a) },
                                else_branch = v () => (float[M,2] r) { z = Reshape (x, three)  r = MatMul (z, a) }> },
                  else_branch = e () => (float[N,2] q) { q = MatMul (x, b) }>
    })";
  train::BatchInputs inputs({{4, 3}, {}});
  inputs.fixed.emplace(1, tensor({}, {16}, DType::kI64));
  inputs.settle = cli::settle_shapes;
  const train::TrainingGraphs graphs = train::make_graphs(parse_text(kChoice), inputs, recipe_of(), standard_types);
  CHECK(graphs.parameters == std::vector<std::string>{"a"});
  CHECK(listed_ops(graphs.gradients).find("If") == std::string::npos);
  CHECK(graphs.gradients.graph->inputs().at(1)->name == "rate");  // data still give it
}

TEST_CASE("a prepared graph of gradients has fewer nodes and gives the same") {
  train::TrainingGraphs plain = graphs_of(), prepared = graphs_of();
  cli::prepare_gradients(prepared, recipe_of());
  CHECK(prepared.gradients.graph->node_count() + 8 <= plain.gradients.graph->node_count());
  const auto expected = run(plain), found = run(prepared);
  REQUIRE(expected.size() == 10);  // the loss, gradients of seven weights, two statistics
  for (const auto& [name, value] : expected) {
    INFO(name);
    require_close(found.at(name), value, 1e-5);
  }
}

TEST_CASE("preparation leaves what is computed again") {
  train::TrainingGraphs again = graphs_of("sqrt");
  REQUIRE(again.recomputed.nodes > 0);
  const auto tanhs = [](const train::TrainingGraphs& graphs) {
    int count = 0;
    for (const Node* node : graphs.gradients.graph->nodes()) count += node->op == "Tanh";
    return count;
  };
  const int before = tanhs(again);
  REQUIRE(before > 3);
  cli::prepare_gradients(again, recipe_of("sqrt"));
  CHECK(tanhs(again) == before);
}

TEST_CASE("preparation leaves the rounding between two products") {
  const train::Recipe recipe = recipe_of("", DType::kBF16);
  const auto make = [&] {
    Net net;
    const auto weights = [&](const char* name, const Dims& dims) {
      return net.graph().add_constant(name, uniform(dims, -1, 1, DType::kF32, net.graph().values().size()));
    };
    Value* x = net.op("MatMul", {net.input({8, 6}), weights("a", {6, 6})});
    net.output(net.op("MatMul", {net.op("MatMul", {x, weights("b", {6, 6})}), weights("c", {6, 3})}));
    infer(net.model, standard_types);
    return train::make_graphs(net.model, {{8, 6}}, recipe, standard_types);
  };
  train::TrainingGraphs plain = make(), prepared = make();
  cli::prepare_gradients(prepared, recipe);
  CHECK(prepared.gradients.graph->node_count() < plain.gradients.graph->node_count());
  const auto expected = run(plain), found = run(prepared);
  for (const auto& [name, value] : expected) CHECK(to_doubles(found.at(name)) == to_doubles(value));
}

TEST_CASE("measuring what preparation brings changes no state, and says why it does not measure") {
  train::TrainingGraphs graphs = graphs_of();
  const Model before = clone(graphs.gradients);
  cli::prepare_gradients(graphs, recipe_of());
  const std::map<std::string, Tensor> first = run(graphs);
  const auto backend = cpu_with_fallback();
  for (const double seconds : {0.2, 1e-9}) {
    const cli::Preparation p = cli::measure_preparation(before, graphs, inputs(), *backend, {}, seconds, seconds / 100);
    CHECK(p.nodes_after < p.nodes_before);
    CHECK(p.bytes_before > 0);
    CHECK(p.bytes_after <= p.bytes_before);
    CHECK(p.time.left_out.empty() == (seconds > 0.1));
    Report report;
    cli::report_preparation(p, report);
    const Json& json = *report.data.find("preparation");
    CHECK(json.find("prepared")->find("nodes")->integer() == p.nodes_after);
    CHECK(json.find("prepared")->find("ms")->is_number() == (seconds > 0.1));
    CHECK((json.find("left_out") == nullptr) == (seconds > 0.1));
    CHECK(to_text(report).find("as they stand") != std::string::npos);
  }
  const cli::Preparation slow = cli::measure_preparation(before, graphs, inputs(), *backend, {}, 1, 100);
  CHECK(slow.time.left_out.starts_with("a portion takes 1e+02 s, too long for a measurement of 1 s"));
  for (const auto& [name, value] : first)
    if (name != "loss") require_close(graphs.state->at(name), value, 0);
}
