#include "cli/train/preparation.h"

#include <fmt/core.h>

#include <map>

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/report/report.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

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
std::map<std::string, Tensor> run(const train::TrainingGraphs& graphs, const std::vector<Datum>& at = inputs()) {
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  std::map<std::string, Tensor> found;
  found["loss"] = cpu_with_fallback()->compile(graphs.gradients, options)->run(at).back().tensor();
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

TEST_CASE("settings that are computed from constants are known, and weights are trained") {
  Model model = fixture(R"(g (float[2,1,4,4] x, float[2,1,3,3] K, float[2,1,1,1] S, float[128,2] W) => (float[2,2] y)
      <int64 one = {1}, float[2] both = {1, 1}, float up = {2}, int64[8] around = {0, 0, 1, 1, 0, 0, 1, 1},
       int64 three = {3}, int64 first = {0}, int64[1] rest = {-1}, int64[1] axis = {0}> {
    w = Mul (K, S)  c = Conv <pads = [1, 1, 1, 1]> (x, w)
    low = Cast <to = 1> (one)  high = Cast <to = 1> (three)  l = Clip (c, low, high)
    twice = Reshape (up, rest)  t = Concat <axis = 0> (twice, twice)  scales = Concat <axis = 0> (both, t)
    r = Resize (l, , scales)
    s = Shape (c)  n = Gather (s, first)  f = Cast <to = 1> (n)  g = Mul (f, up)  h = Div (g, up)  k = Cast <to = 7> (h)
    u = Unsqueeze (k, axis)  shape = Concat <axis = 0> (u, rest)  p = Reshape (r, shape)  y = MatMul (p, W)
  })");
  train::BatchInputs shapes({{2, 1, 4, 4}});
  shapes.settle = cli::settle_shapes;
  const train::TrainingGraphs graphs = train::make_graphs(model, shapes, recipe_of(), standard_types);
  CHECK(graphs.parameters == std::vector<std::string>{"K", "S", "W"});
}

TEST_CASE("what joins operators for ONNX Runtime is trained as these are") {
  const std::string weights =
      "float[4,4] Q, float[12] P, float[4] G, float[4] E, float[4,4] F, float[4] C, float[4,12] W, float[12] A, "
      "float[4,2] H, float[2] I) => (float[2,2] y) <int64[1] rows = {1}, int64[1] none = {0}, int64[1] four = {4}, "
      "int64[1] eight = {8}, int64[1] end = {12}, int64[4] apart = {0, 0, 2, 2}, int64[3] side = {0, 0, 4}, "
      "float scale = {0.70710678}> { p = MatMul (x, Q) ";
  const std::string joined = R"(
      a = com.microsoft.MultiHeadAttention <num_heads = 2> (p, x, p, P)
      s = com.microsoft.SkipLayerNormalization <epsilon = 0.01> (a, x, G, E)
      f = com.microsoft.FusedMatMul <transB = 1> (s, F)
      b = com.microsoft.BiasGelu (f, C)
      l = com.microsoft.Attention <num_heads = 2> (b, W, A)
      m = ReduceMean <keepdims = 0> (l, rows)  y = com.microsoft.FusedGemm <activation = "Tanh"> (m, H, I) })";
  // Softmax(scale q k^T) v of two heads.
  const auto attention = [](const std::string& name, const std::string& q, const std::string& k, const std::string& v) {
    const auto heads = [&](const std::string& x) {
      return fmt::format("{0}{1}r = Reshape ({1}, apart) {0}{1}h = Transpose <perm = [0, 2, 1, 3]> ({0}{1}r) ", name,
                         x);
    };
    return heads(q) + heads(k) + heads(v) +
           fmt::format(
               "{0}t = Transpose <perm = [0, 1, 3, 2]> ({0}{2}h) {0}d = MatMul ({0}{1}h, {0}t) {0}e = Mul ({0}d, "
               "scale) "
               "{0}f = Softmax ({0}e) {0}g = MatMul ({0}f, {0}{3}h) {0}i = Transpose <perm = [0, 2, 1, 3]> ({0}g) "
               "{0} = Reshape ({0}i, side) ",
               name, q, k, v);
  };
  const std::string apart =
      "pq = Slice (P, none, four) pk = Slice (P, four, eight) pv = Slice (P, eight, end) "
      "q = Add (p, pq) k = Add (x, pk) v = Add (p, pv) " +
      attention("a", "q", "k", "v") +
      "o = Add (a, x) s = LayerNormalization <epsilon = 0.01> (o, G, E) t = Transpose <perm = [1, 0]> (F) "
      "f = MatMul (s, t) c = Add (f, C) b = Gelu (c) w = MatMul (b, W) u = Add (w, A) qs, ks, vs = Split <axis = 2, "
      "num_outputs = 3> (u) " +
      attention("l", "qs", "ks", "vs") + "m = ReduceMean <keepdims = 0> (l, rows) n = Gemm (m, H, I) y = Tanh (n) }";
  const auto gradients = [&](const std::string& body) {
    Model model = fixture("g (float[2,3,4] x, " + weights + body);
    model.set_opset("com.microsoft", 1);
    train::BatchInputs shapes({{2, 3, 4}});
    shapes.settle = cli::settle_shapes;
    const train::TrainingGraphs graphs = train::make_graphs(model, shapes, recipe_of(), standard_types);
    return run(graphs, {uniform({2, 3, 4}, -1, 1), tensor({2}, {0, 1}, DType::kI64)});
  };
  const auto expected = gradients(apart), found = gradients(joined);
  REQUIRE(expected.size() == 11);  // the loss, and gradients of ten weights
  REQUIRE(found.size() == 11);
  for (const auto& [name, value] : expected) {
    INFO(name);
    require_close(found.at(name), value, 1e-5);
  }
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
